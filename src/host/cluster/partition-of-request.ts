/** Which partition of its tenant a request is for: that of its resource, or of its task; all others go to the first. */
import type { FastifyRequest } from 'fastify'
import { partitionName, partitionOf, partitionOfTask } from '#cluster'

/** Messages and series of a resource. */
const OF_RESOURCE = /\/resources\/:id(?:\/(?!commands)|$)/
const OF_TASK = /\/api\/tasks\/:id(?:\/|$)/

/** `count`: of the partitions of the tenant. */
export function partitionOfRequest(
  tenant: string,
  count: number,
  { method, routeOptions: { url = '' }, params }: Pick<FastifyRequest, 'method' | 'routeOptions' | 'params'>,
): string {
  if (count === 1 || typeof params !== 'object' || params === null || !('id' in params)) return tenant
  const { id } = params
  if (typeof id !== 'string') return tenant
  // what makes tasks of templates is where these are changed
  if (OF_TASK.test(url)) return method === 'PUT' ? tenant : partitionName(tenant, partitionOfTask(id, count))
  // what is kept of resources is under /api
  const isOfResource = OF_RESOURCE.test(url) && !url.includes('/api/')
  return isOfResource ? partitionName(tenant, partitionOf(id, count)) : tenant
}
