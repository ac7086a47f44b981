/**
 * Who may visit a page: anybody; whoever is signed in, though they still have to choose a password of their own; whoever
 * is signed in, though their address is not verified; whoever is signed in and verified, though they still have to set up
 * a second factor; the same without that; operators.
 */
export type Access = 'public' | 'temporary-password' | 'unverified' | 'second-factor' | 'signed-in' | 'operator';

/** Where a handler or its class says who may visit it. */
export const ACCESS = 'switchboard:access';
