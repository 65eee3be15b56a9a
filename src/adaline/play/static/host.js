// The page's own host of app.js: the model of an anywidget, over one WebSocket.
import app from "./app.js";

class Model {
  values = {};
  listeners = new Map();

  get(name) { return this.values[name]; }
  set(name, value) { this.values[name] = value; }
  save_changes() {}
  on(name, hear) { this.listeners.set(name, [...(this.listeners.get(name) ?? []), hear]); }
  fire(name, ...told) { for (const hear of this.listeners.get(name) ?? []) hear(...told); }

  send(message, _callbacks, buffers = []) {
    if (this.socket?.readyState !== WebSocket.OPEN) return;
    if (!buffers.length) return this.socket.send(JSON.stringify(message));
    this.socket.send(frame(message, new Uint8Array(buffers[0])));
  }

  connect() {
    this.socket = new WebSocket(`ws://${location.host}/socket`);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => this.begin();
    this.socket.onmessage = ({ data }) => {
      const { message, buffers } = typeof data === "string"
        ? { message: JSON.parse(data), buffers: [] } : unframed(data);
      this.fire("msg:custom", message, buffers);
    };
    this.socket.onclose = ({ code, reason }) => {
      this.fire("connection", false, code === 1008 ? reason : "");
      setTimeout(() => this.connect(), 1000);
    };
  }

  begin() {
    const first = this.values.tabs === undefined;
    this.values.tabs = document.getElementById("page").dataset.tabs.split(" ");
    if (first) app.render({ model: this, el: document.getElementById("page") });
    else this.fire("connection", true, "");
  }
}

function frame(message, payload) {
  const header = new TextEncoder().encode(JSON.stringify(message));
  const whole = new Uint8Array(4 + header.length + payload.length);
  new DataView(whole.buffer).setUint32(0, header.length, true);
  whole.set(header, 4);
  whole.set(payload, 4 + header.length);
  return whole;
}

function unframed(data) {
  const length = new DataView(data).getUint32(0, true);
  const message = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)));
  let from = 4 + length;
  const buffers = message.sizes.map((size) => {
    from += size;
    return new DataView(data, from - size, size);
  });
  return { message, buffers };
}

new Model().connect();
