/** The registry over HTTP. The service reads queries and bodies itself. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Caller } from '#kernel'
import { bodyBytes, FORM_TYPE, ownScope } from '#services/shared'
import type { FunctionsService } from './contract.ts'
import { FUNCTION_TYPES, type FunctionType } from './function-type.ts'
import { MAX_FORM, readUploadForm } from './registry/upload-form.ts'
import { assetRoutes, contentRoutes } from './routes/asset-routes.ts'
import { changeRoutes } from './routes/change-routes.ts'
import { functionRoutes } from './routes/function-routes.ts'
import { jobRoutes, versionJobRoutes } from './routes/job-routes.ts'
import { registryRoutes } from './routes/registry-routes.ts'
import { ARCHIVE_TYPES, type TypeRouting } from './routes/route-parts.ts'
import { functionTagRoutes, tagRoutes } from './routes/tag-routes.ts'

export interface RegistryRouting {
  readonly service: FunctionsService
  readonly now: () => number
  /** of this package */
  readonly revision: string
}

/** Adds every route of the service, in scopes of their own. `request.tenant` and `request.user` say who asks. */
export async function functionsRoutes(
  app: FastifyInstance,
  { service, now, revision }: RegistryRouting,
): Promise<void> {
  const routing = (type: FunctionType): TypeRouting => ({
    type,
    now,
    service: { as: (caller: Caller) => service.as(caller, type) },
  })
  // what is not about one type is the same for all of them
  const any = routing('plugs')
  await ownScope(app, (own) => {
    own.addContentTypeParser([...ARCHIVE_TYPES], readBytes)
    own.addContentTypeParser(
      FORM_TYPE,
      { parseAs: 'buffer', bodyLimit: MAX_FORM },
      (request: FastifyRequest, body: Buffer) => readUploadForm(request.headers['content-type'] ?? '', body),
    )
    registryRoutes(own, any.service, revision)
    jobRoutes(own, any)
    tagRoutes(own, any.service)
    for (const type of FUNCTION_TYPES) {
      const typed = routing(type)
      functionRoutes(own, typed)
      changeRoutes(own, typed)
      contentRoutes(own, typed)
      functionTagRoutes(own, typed)
      versionJobRoutes(own, typed)
    }
  })
  await ownScope(app, (own) => {
    // an asset is what it is, also one in JSON
    own.removeAllContentTypeParsers()
    own.addContentTypeParser('*', readBytes)
    for (const type of FUNCTION_TYPES) assetRoutes(own, routing(type))
  })
}

function readBytes(request: FastifyRequest, body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const length = request.headers['content-length']
  const { bodyLimit } = request.routeOptions
  return bodyBytes(body, bodyLimit, length === undefined ? undefined : Number(length))
}
