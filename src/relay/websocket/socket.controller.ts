import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  Req,
  Res,
  type Type,
  UseGuards,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiKeyGuard } from '../../keys/index.js';
import { AppError } from '../../platform/shared/index.js';
import type { ProtocolId } from '../../protocols/contract/index.js';
import { CallGuard } from '../call.guard.js';
import { refuseMethod } from '../fallback.controller.js';
import { upgradeOf } from './upgrades.js';
import { WebSockets } from './web-sockets.js';

/** Requires of a handshake what is required of a call. */
@Injectable()
export class SocketGuard implements CanActivate {
  constructor(
    private readonly calls: CallGuard,
    private readonly keys: ApiKeyGuard,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const { raw, headers } = context.switchToHttp().getRequest<FastifyRequest>();
    if (upgradeOf(raw) !== undefined) return this.calls.canActivate(context);
    // On this error, clients use HTTP.
    if (headers['sec-websocket-key'] !== undefined) throw new UpgradeRemoved();
    return this.keys.canActivate(context);
  }
}

/** Creates the controller for the handshakes of a protocol. */
export function socketController(id: ProtocolId, path: string): Type {
  @Controller()
  @UseGuards(SocketGuard)
  class SocketController {
    constructor(private readonly sockets: WebSockets) {}

    @Get(path)
    open(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
      const upgrade = upgradeOf(request.raw);
      if (upgrade === undefined) refuseMethod(request, reply);
      else this.sockets.open(id, upgrade, request, reply);
    }
  }
  return SocketController;
}

class UpgradeRemoved extends AppError {
  constructor() {
    super(
      'upgrade_required',
      'This WebSocket handshake has no Upgrade header: a proxy in between removed it. Configure it to pass the header, or use HTTP POST.',
    );
  }
}
