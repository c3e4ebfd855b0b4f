/** Creates the objects service of a host. */
import type { FastifyInstance } from 'fastify'
import { machineTimers } from '#platform'
import { BlobContents, Objects, objectsErrorBody, objectsRoutes, SigningKeys } from '#services/objects'
import type { SharedContents } from '#services/objects/contract'
import type { Config } from '../config.ts'
import { randomKey, secretKey } from '../data-folder.ts'
import type { MakeService } from './service-dependencies.ts'
import { ofCaller, served } from './service-registry.ts'
import { listeningAt } from '../listen.ts'
import { ownVersion } from '../version.ts'

export const makeObjects: MakeService = async ({ figures, logger, now, config, memberUrl, tenants }) => {
  let server: FastifyInstance | undefined
  const keys = new SigningKeys(signingKey(config))
  const { later, newId } = machineTimers
  const contents = await openContents(config)
  figures.queue('object-uploads', ({ objects }) => objects?.gauges().uploads)
  figures.total('objects-put', ({ objects }) => objects?.gauges().put)
  figures.total('objects-removed', ({ objects }) => objects?.gauges().removed)
  return {
    name: 'objects',
    description: 'Files of tenants in buckets, read and written by signed URLs',
    example: '/storage/v1/bucket',
    errorBody: objectsErrorBody,
    routes: (app) => {
      server = app
      return objectsRoutes(app, {
        service: ofCaller(tenants, ({ objects }) => objects),
        objectsOf: (tenant) => served(tenants.of(tenant).objects).inside,
        find: (tenant) => tenants.find(tenant)?.objects?.inside,
        keys,
        now,
        later,
        version: ownVersion(),
      })
    },
    open: ({ tenant, store }) => {
      const objects = new Objects({
        tenant,
        store,
        contents: contents?.of(tenant) ?? new BlobContents(store.blobs),
        keys,
        now,
        newId,
        later,
        logger,
        origin: () => config.url ?? memberUrl?.() ?? listeningAt(config, server),
      })
      return { provides: { objects }, life: objects }
    },
    end: () => contents?.close(),
  }
}

async function openContents({ objects }: Pick<Config, 'objects'>): Promise<SharedContents | undefined> {
  if (objects.kind === 'files') return undefined
  const { openS3Contents, readS3Location } = await import('#services/objects/s3-contents')
  return openS3Contents(readS3Location(objects.url))
}

function signingKey({ store, data, sharedKeys }: Config): Uint8Array {
  if (sharedKeys !== undefined) return sharedKeys.objects
  return store.medium === 'memory' ? randomKey() : secretKey(data, 'objects.key', 'its signed URLs then become invalid')
}
