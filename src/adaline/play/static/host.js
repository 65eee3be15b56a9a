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

  /** Send an event; bytes follow its JSON, which has no line break, after one. */
  send(message, _callbacks, buffers = []) {
    if (this.socket?.readyState !== WebSocket.OPEN) return;
    const text = JSON.stringify(message);
    this.socket.send(buffers.length ? new Blob([text, "\n", ...buffers]) : text);
  }

  connect() {
    this.socket = new WebSocket(`ws://${location.host}/socket`);
    this.socket.onopen = () => this.begin();
    this.socket.onmessage = ({ data }) => this.fire("msg:custom", JSON.parse(data));
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

new Model().connect();
