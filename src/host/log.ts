/** Configures a host's structured log, which never contains secrets. */
import type { FastifyRequest, FastifyServerOptions } from 'fastify'

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export interface LogStream {
  write(line: string): void
}

const CENSORED = '[hidden]'
const SECRET_QUERY = /([?&](?:apikey|apisecret|token|access_token|signature|x-amz-signature)=)[^&#]*/gi
const SECRET_FIELDS = ['authorization', 'cookie', 'secret', 'apiSecret', 'password', 'token']

export function logOptions(level: LogLevel, stream: LogStream): NonNullable<FastifyServerOptions['logger']> {
  const paths = SECRET_FIELDS.flatMap((field) => [field, `*.${field}`, `*.headers.${field}`])
  return {
    level,
    stream,
    redact: { paths, censor: CENSORED },
    serializers: { req: describeRequest },
  }
}

export function describeRequest(request: FastifyRequest): { method: string; url: string; remoteAddress: string } {
  return { method: request.method, url: withoutSecrets(request.url), remoteAddress: request.ip }
}

export function withoutSecrets(url: string): string {
  return url.includes('?') ? url.replace(SECRET_QUERY, `$1${CENSORED}`) : url
}
