import { applyDecorators, SetMetadata, UseGuards, UseInterceptors } from '@nestjs/common';
import { PageInterceptor } from '../web/index.js';
import { ACCESS, type Access } from './access-level.js';
import { ActingInterceptor } from './acting.interceptor.js';
import { VisitGuard } from './visit.guard.js';

const open = (access: Access): MethodDecorator & ClassDecorator =>
  applyDecorators(SetMetadata(ACCESS, access), UseGuards(VisitGuard), UseInterceptors(PageInterceptor));

/** A page that anybody may visit. */
export const Public = (): MethodDecorator & ClassDecorator => open('public');
/** A page for whoever has signed in, with a password that somebody else has seen too. */
export const TemporaryPassword = (): MethodDecorator & ClassDecorator => open('temporary-password');
/** A page for whoever has signed in, before their address is verified too. */
export const Unverified = (): MethodDecorator & ClassDecorator => open('unverified');
/** A page for whoever has shown that the address is theirs, before they have the second factor that they need too. */
export const SecondFactorSetUp = (): MethodDecorator & ClassDecorator => open('second-factor');
/** A page for whoever has signed in and shown that the address is theirs. */
export const SignedIn = (): MethodDecorator & ClassDecorator => open('signed-in');
/** A page for operators; to everybody else it does not exist. What it changes is recorded in its visitor's name. */
export const Operator = (): MethodDecorator & ClassDecorator =>
  applyDecorators(open('operator'), UseInterceptors(ActingInterceptor));
