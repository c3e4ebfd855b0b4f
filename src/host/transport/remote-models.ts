/** Calls model servers under the rules of callURL: only allowed addresses, no redirects. */
import { addressOf, type Transport } from '#plugins/spi'
import { AllowList, AppError, messageOf } from '#kernel'
import { NOT_SENT, type RemoteTransport } from '#services/models'

/** Error codes of connections that were never established. */
const NO_CONNECTION: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN'])

export function remoteModels(transport: Transport): RemoteTransport {
  const allowed = new AllowList(transport.allow ?? [])
  return async ({ url, ...request }) => {
    const { timeoutMs } = request
    const parsed = new URL(url)
    // the deadline includes name resolution
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)])
    try {
      const address = await Promise.race([addressOf(parsed, transport, allowed), abortOf(signal)])
      const { status, body } = await transport.send({ url, address, ...request, signal })
      return { status, body }
    } catch (error) {
      throw failure(parsed.host, timeoutMs, error)
    }
  }
}

function abortOf(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted', { cause: signal.reason })), { once: true })
  })
}

function failure(host: string, timeoutMs: number, error: unknown): AppError {
  const cause: unknown = error instanceof Error ? error.cause : undefined
  if (cause instanceof Error && cause.name === 'TimeoutError') {
    return new AppError('REMOTE_LATE', `${host} did not respond within ${timeoutMs} ms`)
  }
  const isSent = !(cause instanceof Error && 'code' in cause && NO_CONNECTION.has(cause.code))
  return new AppError('REMOTE_FAILED', `${host}: ${messageOf(error)}`, isSent ? {} : { cause: NOT_SENT })
}
