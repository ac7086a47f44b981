// The pages of API keys: list, creation, changes, use, and what to do about a leaked one.
export { badgeOf } from './key-facts.js';
export { fullestOf, limitsOf } from './key-limits.js';
export { KeyPagesModule } from './key-pages.module.js';
export { KeyUsePages } from './key-use.pages.js';
export { noticeText } from './notice-text.js';
