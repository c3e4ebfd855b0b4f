/** Creates the Fastify server of a host and mounts the whole API on it. */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import { fastify, LogController, type FastifyInstance } from 'fastify'
import { machineTimers } from '#platform'
import { errorHandler } from './errors.ts'
import { plainErrorBody } from './failure.ts'
import type { Certificates } from './certificates.ts'
import { logOptions, type LogLevel, type LogStream } from './log.ts'
import { mount, type MountOptions } from './mount.ts'
import { ownPath } from './path-aliases.ts'
import { requestLog } from './request-log.ts'

/** Idle timeout of a connection in ms, longer than that of common proxies */
const KEEP_ALIVE = 72_000
/** Time limit for request headers, in ms */
const HEADERS = 10_000

export interface AppOptions extends Omit<MountOptions, 'alone'> {
  readonly trustProxy?: string | undefined
  /** absent: the host speaks HTTP */
  readonly certificates?: Certificates | undefined
  /** Must be called after the last answer; may be called twice. */
  close(): Promise<void>
  readonly log: { readonly level: LogLevel; readonly stream: LogStream }
}

/** Creates a server with the whole API, ready to listen or for `inject`. On failure, `close` has been called. */
export async function createApp({ log, trustProxy, certificates, ...mounting }: AppOptions): Promise<FastifyInstance> {
  const app = fastify({
    logger: logOptions(log.level, log.stream),
    childLoggerFactory: requestLog,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestIds(),
    ...(trustProxy !== undefined && { trustProxy }),
    // each route has its own deadline for bodies
    requestTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE,
    ...(certificates === undefined
      ? { http: { headersTimeout: HEADERS } }
      : { https: { ...certificates.options, headersTimeout: HEADERS } }),
    rewriteUrl: ownPath,
    // names of templates and resources may be long, and each byte may take three characters when encoded
    routerOptions: { maxParamLength: 2048 },
    clientErrorHandler: answerBrokenRequest,
    // a malformed URL has neither a route nor an error handler
    frameworkErrors: (error, request, reply) => void errorHandler(plainErrorBody)(error, request, reply),
    // services start and resume their work while plugins load, which may take long
    pluginTimeout: 0,
    // requests during a stop are rejected by their service, in its error format
    return503OnClosing: false,
  })
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    done()
  })
  if (app.server instanceof TlsServer) certificates?.keep(app.server)
  app.addHook('onClose', () => mounting.close())
  dropIdleConnections(app)
  try {
    await app.register(async (scope) => mount(scope, { ...mounting, alone: true }))
    await app.ready()
  } catch (error) {
    await app.close().catch(() => undefined)
    throw error
  }
  return app
}

/** Interval between checks for idle connections during a stop, in ms */
const LOOK = 50

function dropIdleConnections(app: FastifyInstance): void {
  const open = new Set<Socket>()
  const event = app.server instanceof TlsServer ? 'secureConnection' : 'connection'
  app.server.on(event, (socket: Socket) => {
    open.add(socket)
    // a `data` listener would disable Node's fast parser
    socket.once('close', () => open.delete(socket))
  })
  let stopLooking: (() => void) | undefined
  app.addHook('preClose', async () => {
    // Node does not count a connection without a request as idle
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
    stopLooking = machineTimers.every(LOOK, () => app.server.closeIdleConnections())
  })
  app.addHook('onClose', async () => stopLooking?.())
}

/** Returns the client's own request id if it is safe to log, else a new id: this process's id and a number. */
function requestIds(): (request: Pick<IncomingMessage, 'headers'>) => string {
  const life = machineTimers.newId()
  let count = 0
  return ({ headers }) => {
    const given = headers['x-request-id']
    return typeof given === 'string' && /^[\w.:-]{1,64}$/.test(given) ? given : `${life}-${(++count).toString(36)}`
  }
}

const BROKEN: ReadonlyMap<string, readonly [number, string, string]> = new Map([
  ['HPE_HEADER_OVERFLOW', [431, 'Request Header Fields Too Large', 'The headers are too large']],
  ['ERR_HTTP_REQUEST_TIMEOUT', [408, 'Request Timeout', 'The request did not arrive in time']],
])

/** Responds to bytes that are not HTTP and therefore have no route. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const [statusCode, status, text] = BROKEN.get(error.code ?? '') ?? [
    400,
    'Bad Request',
    'The request is not valid HTTP',
  ]
  const body = JSON.stringify({ statusCode, error: text })
  const head = [
    `HTTP/1.1 ${statusCode} ${status}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  if (socket.writable) socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  socket.destroySoon()
}
