"""Every compiled loop, by subject: textbook loops over arrays, numbers and integer codes."""
