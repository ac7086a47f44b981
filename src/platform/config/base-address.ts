import { Injectable } from '@nestjs/common';
import { type AbstractHttpAdapter, HttpAdapterHost } from '@nestjs/core';
import type { Server } from 'node:http';
import { Config } from './config.js';

/** What a server that listens on every address of its machine is reached at from there. */
const ANY_HOST: readonly string[] = ['0.0.0.0', '::'];

/** Where people reach this service. Never taken from a request: anybody could write another address there. */
@Injectable()
export class BaseAddress {
  constructor(
    private readonly config: Config,
    private readonly adapter: HttpAdapterHost,
  ) {}

  /** PUBLIC_URL, else `http://HOST:PORT` with the port that was given when PORT is 0. Without a trailing slash. */
  current(): string {
    const { publicUrl, host, port } = this.config;
    if (publicUrl !== undefined) return publicUrl;
    return `http://${hostName(host)}:${this.givenPort() ?? port}`;
  }

  /** Undefined as long as nothing listens, as on the command line. */
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
