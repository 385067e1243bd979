// A page with a file:// address may not create a Worker, with which the site searches. This is a Worker that runs its
// script in a hidden frame of the same page instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.scope = frame.contentWindow;
      this.scope.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = this.scope.document.createElement("script");
      script.src = new URL(url, location.href);
      this.ready = new Promise((loaded) => { script.onload = loaded; });
      this.scope.document.body.append(script);
    }
    postMessage(data) {
      this.ready.then(() => this.scope.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {
      this.scope.frameElement.remove();
    }
  };
}
