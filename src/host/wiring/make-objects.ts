/** Makes the objects service of a host. */
import type { FastifyInstance } from 'fastify'
import { machineTimers } from '#platform'
import { BlobContents, createObjectsService, objectsErrorBody, objectsRoutes, SigningKeys } from '#services/objects'
import type { ContentStore } from '#services/objects/contract'
import type { Config } from '../config.ts'
import { randomKey, secretKey } from '../data-folder.ts'
import type { MakeService, ServiceDependencies } from './service-dependencies.ts'
import { ownVersion } from '../version.ts'

/** Over storage, and the store of contents that was chosen. */
export const makeObjects: MakeService = async (dependencies) => {
  const { storage, gauges, logger, now, config, serviceRegistry, reached, memberUrl } = dependencies
  let server: FastifyInstance | undefined
  const keys = new SigningKeys(signingKey(config))
  const { later, newId } = machineTimers
  const own = createObjectsService({
    storage,
    contents: await openContents(dependencies),
    keys,
    now,
    newId,
    later,
    logger,
    origin: () => config.url ?? memberUrl?.() ?? listeningAt(config, server),
  })
  const service = reached('objects', own)
  serviceRegistry.objects = service
  gauges.watchQueue('object-uploads', () => service.gauges().uploads)
  gauges.watchTotal('objects-put', () => service.gauges().put)
  gauges.watchTotal('objects-removed', () => service.gauges().removed)
  return {
    name: 'objects',
    description: 'Files of tenants in buckets, read and written by signed addresses',
    example: '/storage/v1/bucket',
    errorBody: objectsErrorBody,
    routes: (app) => {
      server = app
      return objectsRoutes(app, { service, keys, now, later, version: ownVersion() })
    },
    start: () => service.start(),
    stop: () => service.stop(),
  }
}

async function openContents({ storage, config, objectContents }: ServiceDependencies): Promise<ContentStore> {
  return objectContents ?? (await openOwnContents(config)) ?? new BlobContents(storage)
}

/** The store of contents that was chosen; undefined: they are in the storage. Only the one that was chosen is loaded. */
export async function openOwnContents({ objects }: Pick<Config, 'objects'>): Promise<ContentStore | undefined> {
  if (objects.kind === 'files') return undefined
  const { openS3Contents, readS3Place } = await import('#services/objects/s3-contents')
  return openS3Contents(readS3Place(objects.url))
}

function signingKey({ store, data, sharedKeys }: Config): Uint8Array {
  if (sharedKeys !== undefined) return sharedKeys.objects
  return store.medium === 'memory' ? randomKey() : secretKey(data, 'objects.key', 'addresses that it signed then end')
}

/** For whoever asks from this machine. */
function listeningAt({ host, port }: Config, app: FastifyInstance | undefined): string {
  const bound = app?.server.address()
  const own = typeof bound === 'object' && bound !== null ? bound.port : port
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${own}${app?.prefix ?? ''}`
}
