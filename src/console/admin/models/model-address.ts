import { addressPart, nameInPart } from '../name-address.js';

const encoded = (name: string): string => name.split('/').map(addressPart).join('/');

/** The address of a model's page. Its name may have slashes, and anything else but blanks and commas. */
export const modelAddress = (name: string): string => `/admin/models/${encoded(name)}`;

/** The name that the end of such an address means. @param rest decoded */
export const modelNameIn = (rest: string): string => rest.split('/').map(nameInPart).join('/');

/** Where a model is switched off and on, and where prices that have not begun are taken back. */
export const switchAddress = (name: string): string => `/admin/switch-model/${encoded(name)}`;
export const withdrawAddress = (name: string): string => `/admin/withdraw-prices/${encoded(name)}`;
