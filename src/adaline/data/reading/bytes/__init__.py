"""Where bytes come from: paths and URLs, unpacked, transcoded and cut into whole lines."""
