/** Maps request errors to the error body of their service. */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { AppError, type ErrorCode, ERRORS, isStoreConflict, secondsToWait, writtenMeanwhile } from '#kernel'
import type { Refusal } from '#services/shared'
import type { ErrorBody } from './failure.ts'
import { unreadType } from './json-body.ts'

const FASTIFY_CODES: ReadonlyMap<string, ErrorCode> = new Map([
  ['FST_ERR_CTP_BODY_TOO_LARGE', 'BODY_TOO_LARGE'],
  ['FST_ERR_CTP_INVALID_MEDIA_TYPE', 'MEDIA_TYPE'],
  ['FST_ERR_CTP_INVALID_JSON_BODY', 'NOT_JSON'],
  ['FST_ERR_CTP_EMPTY_JSON_BODY', 'NOT_JSON'],
  // thrown by servers whose owner limits handler times
  ['FST_ERR_HANDLER_TIMEOUT', 'TIMED_OUT'],
])

/** Message without the database's address, which only the log contains. */
const AWAY = 'The database is unreachable or full; try again in a few seconds'
const AWAY_S = 2
/** Usual duration of a takeover, in s */
const MOVED_S = 1

/** Messages with status 500 and unknown errors are only logged, under the id in the response. */
export function failureOf(thrown: unknown, id: string): Refusal {
  if (thrown instanceof AppError) {
    if (isStoreConflict(thrown)) return failureOf(writtenMeanwhile(thrown), id)
    const { code, message, issues } = thrown
    if (code === 'UNAVAILABLE') return { statusCode: 503, error: AWAY, code, issues: [] }
    // the model's owner needs to see its error text
    if (thrown.status !== 500 || code === 'MODEL_FAILED')
      return { statusCode: thrown.status, error: message, code, issues }
    return hidden(code, id)
  }
  if (!isFastifyError(thrown)) return hidden('INTERNAL', id)
  const code = FASTIFY_CODES.get(thrown.code)
  if (code !== undefined) return { statusCode: ERRORS[code].status, error: thrown.message, code, issues: [] }
  const { statusCode = 500 } = thrown
  // other framework errors, such as a malformed URL, expose no internals
  if (thrown.code.startsWith('FST_') && statusCode >= 400 && statusCode < 500) {
    return { statusCode, error: thrown.message, code: 'VALIDATION', issues: [] }
  }
  return hidden('INTERNAL', id)
}

export function errorHandler(errorBody: ErrorBody) {
  return (thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const failure = inOurWords(failureOf(thrown, request.id), thrown, request)
    if (failure.code === 'UNAVAILABLE') reply.header('retry-after', AWAY_S)
    if (failure.code === 'FENCED') reply.header('retry-after', MOVED_S)
    if (failure.code === 'RATE_LIMITED') reply.header('retry-after', secondsToWait(thrown))
    if (isBrokenOff(request)) request.log.debug({ id: request.id }, 'the body of a request broke off')
    else if (failure.statusCode === 500 && failure.code !== 'MODEL_FAILED')
      request.log.error({ err: thrown, id: request.id }, 'request failed')
    else if (failure.code === 'UNAVAILABLE')
      request.log.warn({ err: thrown, id: request.id }, 'the store is unavailable')
    else if (request.log.level === 'debug')
      request.log.debug({ code: failure.code, error: failure.error }, 'request refused')
    return reply.code(failure.statusCode).type('application/json').send(errorBody(failure))
  }
}

/** Whether the client disconnected before sending the whole body. */
export function isBrokenOff({ raw }: FastifyRequest): boolean {
  return raw.destroyed && !raw.complete
}

function inOurWords(failure: Refusal, thrown: unknown, request: FastifyRequest): Refusal {
  if (thrown instanceof AppError) return failure
  if (failure.code === 'BODY_TOO_LARGE') {
    return {
      ...failure,
      error: `The body exceeds the limit of ${request.routeOptions.bodyLimit} bytes`,
    }
  }
  return failure.code === 'MEDIA_TYPE' ? { ...failure, error: unreadType(request) } : failure
}

function hidden(code: ErrorCode, id: string): Refusal {
  return { statusCode: 500, error: `Internal error; the log has the details under id ${id}`, code, issues: [] }
}

function isFastifyError(thrown: unknown): thrown is FastifyError {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string'
}
