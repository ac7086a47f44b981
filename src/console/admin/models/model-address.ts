import { addressPart, nameInPart } from '../name-address.js';

const encoded = (name: string): string => name.split('/').map(addressPart).join('/');

/** The URL of a model's page. Names may contain slashes, but no blanks or commas. */
export const modelAddress = (name: string): string => `/admin/models/${encoded(name)}`;

/** Inverse of `modelAddress`. @param rest decoded path after `/admin/models/` */
export const modelNameIn = (rest: string): string => rest.split('/').map(nameInPart).join('/');

/** URLs for enabling or disabling a model, and for withdrawing upcoming prices. */
export const switchAddress = (name: string): string => `/admin/switch-model/${encoded(name)}`;
export const withdrawAddress = (name: string): string => `/admin/withdraw-prices/${encoded(name)}`;
