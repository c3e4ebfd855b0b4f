/** Serves contents through signed addresses to any S3 client: `/<name of the bucket>/<path>`. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '#kernel'
import { answerPreflight } from '#services/shared'
import { NAME_PREFIX } from '../buckets.ts'
import type { BucketRight } from '../contract.ts'
import { s3ErrorOf, S3Error } from '../signing/s3-error.ts'
import { admitRequest, contentAddress, denied, type AdmittedRequest, type ContentRouting } from './content-request.ts'
import { partRequest, takePart } from './part-requests.ts'
import { sendContent } from './send-content.ts'
import { takeContent } from './take-content.ts'
import { takeForm } from './take-form.ts'
import { xmlText } from './xml.ts'

type Answering = [request: FastifyRequest, reply: FastifyReply, admitted: AdmittedRequest]

const METHODS = 'GET, HEAD, PUT, POST, DELETE, OPTIONS'
const SHOWN_HEADERS = 'accept-ranges, content-disposition, content-range, etag, last-modified, location, x-request-id'
/** bytes of a rejected body that are read to keep the connection open */
const MAX_LEFT = 1_048_576

export function contentRoutes(app: FastifyInstance, routing: ContentRouting): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, parsed) => parsed(null, payload))
  app.setErrorHandler(refuse)
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers({ 'access-control-allow-origin': '*', 'access-control-expose-headers': SHOWN_HEADERS })
    done()
  })
  const url = `/${NAME_PREFIX}:bucket/*`
  const answering =
    (right: BucketRight, handler: (...[request, reply, admitted]: Answering) => Promise<FastifyReply>) =>
    async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const address = contentAddress(request, app.prefix)
      const part = partRequest(address)
      const admitted = await admitRequest(address, part === undefined ? right : 'write', routing)
      return part === undefined
        ? handler(request, reply, admitted)
        : takePart(request, reply, admitted, { part, ...routing })
    }
  // documented by the API that signs these addresses
  const options = {
    config: { scope: 'public', isTenantContent: true, takesStream: true },
    schema: { hide: true },
  } as const
  app.route({
    method: ['GET', 'HEAD'],
    url,
    exposeHeadRoute: false,
    ...options,
    handler: answering('read', sendContent),
  })
  app.put(
    url,
    options,
    answering('write', (request, reply, admitted) => takeContent(request, reply, admitted, routing)),
  )
  app.delete(url, options, answering('delete', removeContent))
  const answerPost = answering('write', () => Promise.reject(denied()))
  for (const at of [url, `/${NAME_PREFIX}:bucket`]) {
    app.post(at, options, async (request, reply) => {
      const address = contentAddress(request, app.prefix)
      // a form is authorized by its own policy
      return partRequest(address) === undefined
        ? takeForm(request, reply, address, routing)
        : answerPost(request, reply)
    })
    app.options(at, options, (request, reply) => answerPreflight(request, reply, METHODS))
  }
}

/** Deletes an object; as in S3, this succeeds when the object does not exist. */
async function removeContent(...[request, reply, { api, alias, key }]: Answering): Promise<FastifyReply> {
  const unread = Object.keys(request.headers).find((name) => /^(?:if-|x-amz-if-)/.test(name))
  if (unread !== undefined) throw new S3Error('NotImplemented', `The header ${unread} is not supported with DELETE`)
  try {
    await api.remove(alias, key)
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'NOT_FOUND')) throw error
  }
  return reply.code(204).send()
}

function refuse(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { id, raw, method } = request
  const known = s3ErrorOf(thrown)
  // the client disconnected, so no response can be sent
  const brokeOff = known === undefined && raw.destroyed && !raw.complete
  if (brokeOff) request.log.debug({ id }, 'an upload was interrupted')
  else if (known === undefined) request.log.error({ err: thrown, id }, 'request failed')
  const error = known ?? new S3Error('InternalError', `An internal error occurred; see the log under id ${id}`)
  if (error.s3Status === 503) reply.header('retry-after', 1)
  if (!raw.complete && leftOf(request) > MAX_LEFT) {
    reply.header('connection', 'close')
    const { socket } = raw
    reply.raw.once('finish', () => socket.destroySoon())
  }
  for (const name of ['content-length', 'content-disposition', 'etag', 'last-modified', 'accept-ranges'])
    reply.removeHeader(name)
  reply.code(error.s3Status).type('application/xml')
  if (method === 'HEAD') return reply.send()
  const resource = request.url.split('?', 1)[0] ?? ''
  return reply.send(xmlText('Error', { Code: error.s3Code, Message: error.message, Resource: resource, RequestId: id }))
}

function leftOf({ headers }: FastifyRequest): number {
  const length = headers['content-length']
  if (length !== undefined) return Number(length)
  return headers['transfer-encoding'] === undefined ? 0 : Number.POSITIVE_INFINITY
}
