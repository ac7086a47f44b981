// Handlebars templates of a folder, compiled and checked at start.
export { checkTemplates, loadTemplates, type Templates } from './template-folder.js';
