// Elements of a page, for reader.js and corrections.js: how they are found and made.
"use strict";

const at = id => document.getElementById(id);
const make = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null) node.setAttribute(name, value);
  node.append(...children.filter(child => child !== null));
  return node;
};
const button = (label, act, attributes = {}) => {
  const node = make("button", { type: "button", ...attributes }, label);
  node.addEventListener("click", act);
  return node;
};
