import { Transform, Type } from 'class-transformer';
import {
  IsFQDN,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  IsUrl,
  Matches,
  Max,
  MaxLength,
  Min,
  MinLength,
} from 'class-validator';
import {
  AreCollectorHeaders,
  AreProxies,
  AreWithoutProxy,
  IsProxyAddress,
  IsReadableFile,
} from './network-settings.js';

const whole = (): PropertyDecorator => Type(() => Number);
const MIB = 1024 * 1024;

const list = (separator: string | RegExp = ','): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) =>
    String(value)
      .split(separator)
      .map((entry) => entry.trim())
      .filter(Boolean),
  );

/** The environment variables. docs/configuration.md lists them with their defaults. */
export class Environment {
  @whole()
  @IsInt()
  @Min(0)
  @Max(65_535)
  readonly PORT: number = 3000;

  @IsString()
  readonly HOST: string = '127.0.0.1';

  @IsOptional()
  @IsUrl({ protocols: ['http', 'https'], require_protocol: true, require_tld: false })
  readonly PUBLIC_URL?: string;

  @IsString()
  readonly DATA_DIR: string = './data';

  @IsOptional()
  @Matches(/^postgres(ql)?:\/\//, { message: 'DATABASE_URL must start with postgres:// or postgresql://' })
  readonly DATABASE_URL?: string;

  @IsOptional()
  @MinLength(32)
  @MaxLength(512)
  readonly SECRET_KEY?: string;

  @list()
  @AreProxies()
  readonly TRUSTED_PROXIES: readonly string[] = [];

  @IsOptional()
  @IsProxyAddress()
  readonly HTTPS_PROXY?: string;

  @list(/[,\s]/)
  @AreWithoutProxy()
  readonly NO_PROXY: readonly string[] = [];

  @IsOptional()
  @IsReadableFile('NODE_EXTRA_CA_CERTS')
  readonly NODE_EXTRA_CA_CERTS?: string;

  @IsIn(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
  readonly LOG_LEVEL: string = 'info';

  @IsIn(['auto', 'json', 'text'])
  readonly LOG_FORMAT: 'auto' | 'json' | 'text' = 'auto';

  @IsIn(['auto', 'on', 'off'])
  readonly DEMO: 'auto' | 'on' | 'off' = 'auto';

  @IsIn(['open', 'invite', 'closed'])
  readonly SIGN_UP: 'open' | 'invite' | 'closed' = 'open';

  @list()
  @IsFQDN({}, { each: true, message: 'SIGN_UP_DOMAINS must be domain names, separated by commas' })
  readonly SIGN_UP_DOMAINS: readonly string[] = [];

  @Matches(/^\d{1,6}(\.\d{1,9})?$/, { message: 'STARTING_CREDIT must be an amount in US dollars, such as 5 or 0.50' })
  readonly STARTING_CREDIT: string = '0';

  @IsOptional()
  @whole()
  @IsInt()
  @Min(1)
  @Max(720)
  readonly SESSION_IDLE_HOURS?: number;

  @IsOptional()
  @Matches(/^smtps?:\/\//, { message: 'SMTP_URL must start with smtp:// or smtps://' })
  readonly SMTP_URL?: string;

  @Matches(/^[^\p{Cc}]+$/u, {
    message: 'MAIL_FROM must be an email address, or a name followed by one in angle brackets',
  })
  readonly MAIL_FROM: string = 'Switchboard <switchboard@localhost>';

  @IsOptional()
  @MaxLength(200)
  readonly SUPPORT_CONTACT?: string;

  @IsOptional()
  @Matches(/^(sk|rk)_\w+$/, { message: 'STRIPE_SECRET_KEY must be a secret or restricted key: sk_… or rk_…' })
  readonly STRIPE_SECRET_KEY?: string;

  @IsOptional()
  @Matches(/^whsec_[\w+/=-]+$/, {
    message: 'STRIPE_WEBHOOK_SECRET must be the signing secret of a webhook endpoint: whsec_…',
  })
  readonly STRIPE_WEBHOOK_SECRET?: string;

  @IsOptional()
  @whole()
  @IsInt()
  @Min(1)
  @Max(1200)
  readonly CALLS_RETENTION_MONTHS?: number;

  @whole()
  @IsInt()
  @Min(0)
  @Max(3_600_000)
  readonly SHUTDOWN_GRACE_MS: number = 30_000;

  @whole()
  @IsInt()
  @Min(1024)
  @Max(1024 * MIB)
  readonly MAX_BODY_BYTES: number = 64 * MIB;

  @IsOptional()
  @whole()
  @IsInt()
  @Min(1024)
  readonly BODY_MEMORY_BYTES?: number;

  @IsOptional()
  @whole()
  @IsInt()
  @Min(1)
  readonly MAX_CALLS_IN_FLIGHT?: number;

  @whole()
  @IsInt()
  @Min(10)
  @Max(60_000)
  readonly MAX_EVENT_LOOP_DELAY_MS: number = 1000;

  @IsOptional()
  @Matches(/^rediss?:\/\//, { message: 'REDIS_URL must start with redis:// or rediss://' })
  readonly REDIS_URL?: string;

  @whole()
  @IsInt()
  @Min(1)
  @Max(64)
  readonly WORKERS: number = 1;

  @IsOptional()
  @MinLength(16)
  @MaxLength(512)
  readonly METRICS_TOKEN?: string;

  @IsOptional()
  @IsUrl({ protocols: ['http', 'https'], require_protocol: true, require_tld: false })
  readonly OTEL_EXPORTER_OTLP_ENDPOINT?: string;

  @IsOptional()
  @AreCollectorHeaders()
  readonly OTEL_EXPORTER_OTLP_HEADERS?: string;

  @IsOptional()
  @IsIn(['development', 'production', 'test'])
  readonly NODE_ENV?: string;
}
