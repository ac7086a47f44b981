// The pages of API keys: list, creation, changes, use, and what to do about a leaked one.
export { badgeOf, fullestOf, limitsOf } from './key-facts.js';
export { KeyPagesModule } from './keys.controller.js';
export { KeyUsePages } from './key-use.pages.js';
export { noticeText } from './notice-text.js';
