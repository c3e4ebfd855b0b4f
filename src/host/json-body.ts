/** Reads request bodies of JSON types, and refuses all others; where there is nothing to read, no type is wrong. */
import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import { AppError } from '#kernel'
import { bodyText, parseBody, parseMessages, Payload } from '#services/shared'

const JSON_TYPES = /^application\/(?:[\w.-]{1,64}\+)?json(?:;|\s|$)/i
const CHARSET = /;\s*charset\s*=\s*"?([^\s";]*)/i
/** bytes of a body that takes well under a millisecond to read */
const SHORT_BODY = 16_384
/** Names of UTF-8, and of what is a part of it. */
const UTF_8 = new Set(['utf-8', 'utf8', 'us-ascii', 'ascii'])

/**
 * Makes a scope read bodies of `application/json` and `application/*+json` in UTF-8, and none of another content type,
 * charset or coding.
 */
export function readJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addHook('onRequest', checkBody)
  app.addContentTypeParser(JSON_TYPES, { parseAs: 'buffer' }, (request, bytes: Buffer, done) => {
    const { takesMessages, takesPayload, takesBytes } = request.routeOptions.config
    if (takesBytes === true && bytes.length > SHORT_BODY) return done(null, bytes)
    const parse = takesPayload === true ? readPayload : takesMessages === true ? parseMessages : parseBody
    try {
      // Clients name the type also where there is nothing to send, as for a command.
      done(null, bytes.length === 0 ? undefined : parse(bodyText(bytes)))
    } catch (error) {
      done(error as AppError)
    }
  })
  // a body that is chunked tells only at its end that it has nothing
  app.addContentTypeParser('*', (request, body, done) => {
    let isAnswered = false
    const answer = (error: Error | null): void => {
      if (!isAnswered) done(error, undefined)
      isAnswered = true
    }
    // where there is no route, that is what is told
    if (request.is404) return answer(null)
    body.once('data', () => answer(new AppError('MEDIA_TYPE', unreadType(request))))
    body.once('end', () => answer(null))
    body.once('error', answer)
  })
}

function readPayload(text: string): Payload {
  return new Payload(text)
}

/** Says what it is that nobody reads. */
export function unreadType({ headers }: FastifyRequest): string {
  const given = headers['content-type']?.slice(0, 100)
  const found = given === undefined ? 'a body without a content type' : `the content type ${given}`
  return `This address does not read ${found}; send application/json`
}

function checkBody(
  { headers, routeOptions }: FastifyRequest,
  reply: FastifyReply,
  done: HookHandlerDoneFunction,
): void {
  if (routeOptions.config.takesStream === true) return done()
  const { 'content-length': length = '0', 'transfer-encoding': transfer, 'content-encoding': coding } = headers
  if (length === '0' && transfer === undefined) {
    // the client's habit, as of axios: nothing comes that could be of the wrong type
    delete headers['content-type']
    return done()
  }
  if (coding !== undefined && coding.toLowerCase() !== 'identity') {
    reply.header('accept-encoding', 'identity')
    const error = `This address does not read the content encoding ${coding.slice(0, 100)}; send the body as it is`
    return done(new AppError('MEDIA_TYPE', error))
  }
  // what tenants wrote reads bytes
  if (routeOptions.config.isTenantContent === true) return done()
  const [, charset = 'utf-8'] = CHARSET.exec(headers['content-type'] ?? '') ?? []
  if (UTF_8.has(charset.toLowerCase())) return done()
  done(new AppError('MEDIA_TYPE', `This address does not read the charset ${charset.slice(0, 100)}; send UTF-8`))
}
