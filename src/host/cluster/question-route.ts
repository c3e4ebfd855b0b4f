/** Sends and serves signed requests between hosts of a cluster. Each signature covers one body and one address. */
import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { AppError } from '#kernel'
import { HOP_HEADER, type Hops } from './hop.ts'

const TYPE = 'application/vnd.reflexarc.question'
const MAX_BYTES = 64 * 1_048_576

export interface HostToAsk {
  readonly url: string
  readonly term: number
  readonly signal: AbortSignal
}

export async function addQuestionRoute(
  app: FastifyInstance,
  path: string,
  hops: Hops,
  answer: (asked: unknown, reply: FastifyReply) => unknown,
): Promise<void> {
  await app.register(async (scope) => {
    scope.addContentTypeParser(TYPE, { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    const options = { config: { scope: 'public' as const }, schema: { hide: true }, bodyLimit: MAX_BYTES }
    scope.post(path, options, async ({ body, raw }, reply) => {
      const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
      if (hops.of(raw) === undefined || !(raw.url ?? '').endsWith(`=${digestOf(bytes)}`)) {
        throw new AppError('FORBIDDEN', 'only hosts of the cluster may use this route')
      }
      return answer(JSON.parse(bytes.toString('utf8')), reply)
    })
  })
}

/** Sends a question to another host. Rejects as `fetch` does. */
export function askHost(path: string, asked: unknown, hops: Hops, { url, term, signal }: HostToAsk): Promise<Response> {
  const body = JSON.stringify(asked)
  const signed = `${path}?body=${digestOf(body)}`
  return fetch(`${url}${signed}`, {
    method: 'POST',
    body,
    headers: { 'content-type': TYPE, [HOP_HEADER]: hops.sign('POST', signed, { count: 1, term }) },
    signal,
  })
}

function digestOf(body: string | Uint8Array): string {
  return createHash('sha256').update(body).digest('base64url')
}

/** Whether the request was not processed; `fetch` puts undici's error in `cause`. */
export function isUnasked(error: unknown): boolean {
  const code = codeOf(error) ?? codeOf(error instanceof Error ? error.cause : undefined)
  return code === 'ECONNREFUSED' || code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'UNTAKEN'
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
}
