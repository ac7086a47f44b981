import { Injectable } from '@nestjs/common';
import { type AbstractHttpAdapter, HttpAdapterHost } from '@nestjs/core';
import type { Server } from 'node:http';
import { Config } from './config.js';

/** Hosts that listen on all interfaces; links to them use `localhost`. */
const ANY_HOST: readonly string[] = ['0.0.0.0', '::'];

/** The URL of this service. Never taken from a request, where clients control it. */
@Injectable()
export class BaseAddress {
  constructor(
    private readonly config: Config,
    private readonly adapter: HttpAdapterHost,
  ) {}

  /** PUBLIC_URL, else `http://HOST:PORT` with the actual port when PORT is 0. Without a trailing slash. */
  current(): string {
    const { publicUrl, host, port } = this.config;
    if (publicUrl !== undefined) return publicUrl;
    return `http://${hostName(host)}:${this.givenPort() ?? port}`;
  }

  /** Undefined when nothing listens, as on the command line. */
  private givenPort(): number | undefined {
    const adapter = this.adapter.httpAdapter as AbstractHttpAdapter<Server> | undefined;
    const address = adapter?.getHttpServer().address();
    return typeof address === 'object' ? address?.port : undefined;
  }
}

function hostName(host: string): string {
  if (ANY_HOST.includes(host)) return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
