// Pages: what a handler returns to have one shown, forms that keep what was typed, who visits. Does not own any page:
// those stand with what they show.
export { Form, type FormBody } from './form.js';
export { type Flash, type Layout, Page, type PageOptions, Redirect } from './page.js';
export type { Visit, Visitor } from './visit.js';
