/** Reads request bodies of JSON types, and refuses all others. */
import type { FastifyInstance } from 'fastify'
import type { AppError } from '../kernel/errors.ts'
import { parseBody } from '../web/parse-body.ts'

/** Makes a scope read bodies of `application/json` and `application/*+json`, and none of another content type. */
export function readJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  const types = /^application\/(?:[\w.-]{1,64}\+)?json(?:;|\s|$)/i
  app.addContentTypeParser(types, { parseAs: 'string' }, (_request, text, done) => {
    try {
      // Clients name the type also where there is nothing to send, as for a command.
      done(null, text === '' ? undefined : parseBody(String(text)))
    } catch (error) {
      done(error as AppError)
    }
  })
}
