// One sound at a time: 32-bit floats from Python, played by the browser.

/** `play(sound)` takes {which, rate, samples}; `hear(which or null)` is told what is playing. */
export function player(hear) {
  let context = null, source = null;
  const stop = () => {
    if (!source) return;
    source.onended = null;
    source.stop();
    source = null;
    hear(null);
  };
  const play = ({ which, rate, samples }) => {
    stop();
    context ??= new AudioContext();
    context.resume();
    const values = new Float32Array(samples.byteLength / 4); // a copy, as the bytes are not aligned
    for (let k = 0; k < values.length; k += 1) values[k] = samples.getFloat32(4 * k, true);
    const buffer = context.createBuffer(1, values.length, rate);
    buffer.copyToChannel(values, 0);
    source = context.createBufferSource();
    source.buffer = buffer;
    source.connect(context.destination);
    source.onended = () => { source = null; hear(null); };
    source.start();
    hear(which);
  };
  return { play, stop };
}
