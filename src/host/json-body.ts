/** Parses JSON request bodies and rejects other content types, except for empty bodies. */
import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import { AppError } from '#kernel'
import { bodyText, parseBody, parseMessages, Payload } from '#services/shared'

const JSON_TYPES = /^application\/(?:[\w.-]{1,64}\+)?json(?:;|\s|$)/i
const CHARSET = /;\s*charset\s*=\s*"?([^\s";]*)/i
/** Size in bytes up to which parsing takes well under a millisecond */
const SHORT_BODY = 16_384
const UTF_8 = new Set(['utf-8', 'utf8', 'us-ascii', 'ascii'])

/** Parses `application/json` and `application/*+json` in UTF-8, and rejects the rest. */
export function readJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addHook('onRequest', checkBody)
  app.addContentTypeParser(JSON_TYPES, { parseAs: 'buffer' }, (request, bytes: Buffer, done) => {
    const { takesMessages, takesPayload, takesBytes } = request.routeOptions.config
    if (takesBytes === true && bytes.length > SHORT_BODY) return done(null, bytes)
    const parse = takesPayload === true ? readPayload : takesMessages === true ? parseMessages : parseBody
    try {
      // clients send a content type even with empty bodies, for example for a command
      done(null, bytes.length === 0 ? undefined : parse(bodyText(bytes)))
    } catch (error) {
      done(error as AppError)
    }
  })
  // a chunked body turns out to be empty only at its end
  app.addContentTypeParser('*', (request, body, done) => {
    let isAnswered = false
    const answer = (error: Error | null): void => {
      if (!isAnswered) done(error, undefined)
      isAnswered = true
    }
    if (request.is404) return answer(null)
    body.once('data', () => answer(new AppError('MEDIA_TYPE', unreadType(request))))
    body.once('end', () => answer(null))
    body.once('error', answer)
  })
}

function readPayload(text: string): Payload {
  return new Payload(text)
}

export function unreadType({ headers }: FastifyRequest): string {
  const given = headers['content-type']?.slice(0, 100)
  const found = given === undefined ? 'a body without a content type' : `the content type ${given}`
  return `This route does not accept ${found}; send application/json`
}

function checkBody(
  { headers, routeOptions }: FastifyRequest,
  reply: FastifyReply,
  done: HookHandlerDoneFunction,
): void {
  if (routeOptions.config.takesStream === true) return done()
  const { 'content-length': length = '0', 'transfer-encoding': transfer, 'content-encoding': coding } = headers
  if (length === '0' && transfer === undefined) {
    delete headers['content-type']
    return done()
  }
  if (coding !== undefined && coding.toLowerCase() !== 'identity') {
    reply.header('accept-encoding', 'identity')
    const error = `This route does not accept the content encoding ${coding.slice(0, 100)}; send the body without encoding`
    return done(new AppError('MEDIA_TYPE', error))
  }
  // routes for tenant content read bytes
  if (routeOptions.config.isTenantContent === true) return done()
  const [, charset = 'utf-8'] = CHARSET.exec(headers['content-type'] ?? '') ?? []
  if (UTF_8.has(charset.toLowerCase())) return done()
  done(new AppError('MEDIA_TYPE', `This route does not accept the charset ${charset.slice(0, 100)}; send UTF-8`))
}
