/** The Fastify server of a host, with everything mounted on it. */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { fastify, LogController, type FastifyInstance } from 'fastify'
import { machineTimers } from '#platform'
import { errorHandler } from './errors.ts'
import { plainErrorBody } from './failure.ts'
import { logOptions, type LogLevel, type LogStream } from './log.ts'
import { mount, type Mounting } from './mount.ts'
import { requestLog } from './request-log.ts'

/** ms: a connection that asks nothing is kept this long, longer than proxies keep theirs */
const KEEP_ALIVE = 72_000
/** ms in which its headers must have */
const HEADERS = 10_000

export interface AppOptions extends Omit<Mounting, 'alone'> {
  /** proxies whose `X-Forwarded-For` is believed */
  readonly trustProxy?: string | undefined
  /** after the last answer; may be called twice */
  close(): Promise<void>
  readonly log: { readonly level: LogLevel; readonly stream: LogStream }
}

/** A server of our own with the whole API on it, ready to listen or to be asked by `inject`. When it cannot be made, `close` was called. */
export async function createApp({ log, trustProxy, ...mounting }: AppOptions): Promise<FastifyInstance> {
  const app = fastify({
    logger: logOptions(log.level, log.stream),
    childLoggerFactory: requestLog,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestIds(),
    ...(trustProxy !== undefined && { trustProxy }),
    // bodies that take too long are answered, route by route: there are some that may
    requestTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE,
    http: { headersTimeout: HEADERS },
    // Names of templates and resources may be long, and each of their bytes may be written with three characters.
    routerOptions: { maxParamLength: 2048 },
    clientErrorHandler: answerBrokenRequest,
    // an address that cannot be read, for which there is no route and so no handler
    frameworkErrors: (error, request, reply) => void errorHandler(plainErrorBody)(error, request, reply),
    // Services start here, and take what they left the last time up again.
    pluginTimeout: 0,
    // refused by the scope of the service, in its shape
    return503OnClosing: false,
  })
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    done()
  })
  app.addHook('onClose', () => mounting.close())
  dropIdleConnections(app)
  try {
    await app.register(async (scope) => mount(scope, { ...mounting, alone: true }))
    await app.ready()
  } catch (error) {
    // It says the same error again.
    await app.close().catch(() => undefined)
    throw error
  }
  return app
}

/** ms between two looks at connections while the host stops */
const LOOK = 50

/** Connections on which nothing is asked must not hold up the stop, whether they were used before or never. */
function dropIdleConnections(app: FastifyInstance): void {
  const open = new Set<Socket>()
  app.server.on('connection', (socket: Socket) => {
    open.add(socket)
    // No listener for data: with one, Node leaves its fast way of reading requests.
    socket.once('close', () => open.delete(socket))
  })
  let stopLooking: (() => void) | undefined
  app.addHook('preClose', async () => {
    // A connection that never asked anything does not count as idle for Node.
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
    stopLooking = machineTimers.every(LOOK, () => app.server.closeIdleConnections())
  })
  app.addHook('onClose', async () => stopLooking?.())
}

/** Gives the caller's own id when it is harmless in a log, else a new one: of this life of the host, and a number. */
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

/** What came over the socket is no request: there is nothing that a route could answer. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const [statusCode, status, text] = BROKEN.get(error.code ?? '') ?? [400, 'Bad Request', 'This is no HTTP request']
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
