/** The log of a host, which hides secrets. */
import type { FastifyRequest, FastifyServerOptions } from 'fastify'

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** Where lines of a log go. */
export interface LogStream {
  write(line: string): void
}

const CENSORED = '[hidden]'
const SECRET_QUERY = /([?&](?:apikey|apisecret|token|access_token|signature|x-amz-signature)=)[^&#]*/gi
/** wherever one of these is logged */
const SECRET_FIELDS = ['authorization', 'cookie', 'secret', 'apiSecret', 'password', 'token']

/** Structured lines (one JSON object each) to a stream, without any credentials. */
export function logOptions(level: LogLevel, stream: LogStream): NonNullable<FastifyServerOptions['logger']> {
  const paths = SECRET_FIELDS.flatMap((field) => [field, `*.${field}`, `*.headers.${field}`])
  return {
    level,
    stream,
    redact: { paths, censor: CENSORED },
    serializers: { req: describeRequest },
  }
}

/** What a line says about a request: no headers, and the address without credentials. */
export function describeRequest(request: FastifyRequest): { method: string; url: string; remoteAddress: string } {
  return { method: request.method, url: withoutSecrets(request.url), remoteAddress: request.ip }
}

/** An address with the values of secret query parameters taken out. */
export function withoutSecrets(url: string): string {
  return url.includes('?') ? url.replace(SECRET_QUERY, `$1${CENSORED}`) : url
}
