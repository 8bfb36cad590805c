// The access token that both pages send, kept until the tab is closed.
"use strict";

const token = {
  key: "sternpost.token",
  get() {
    return sessionStorage.getItem(this.key);
  },
  set(value) {
    sessionStorage.setItem(this.key, value);
  },
  clear() {
    sessionStorage.removeItem(this.key);
  },
  /** header returns the headers that name the caller: none for an anonymous one. */
  header() {
    return this.get() ? { Authorization: "Bearer " + this.get() } : {};
  },
};
