// The pages of API keys: list, creation, changes, usage, and how to replace a leaked key.
export { badgeOf, limitsOf, noticeText } from './key.view.js';
export { KeyUsePages, type KeyUseQuery } from './key-use.controller.js';
export { KeyPagesModule } from './keys.controller.js';
