/** A sensor that searches for resources. */
import { definePlug, requireService, type ResourcePort } from '#plug'

export function queryResourcesPlug(resources?: ResourcePort) {
  return definePlug({
    name: 'queryResources',
    version: '1.0.0',
    kind: 'sensor',
    description:
      'The resources that match a search: Collected, or Not Collected without any. Fails when resources are unavailable or the search is invalid.',
    category: 'Resources',
    parameters: [],
    states: ['Collected', 'Not Collected'],
    input: {
      query: {
        type: 'object',
        mandatory: true,
        description: 'parameters of the resource list: filter, tag, resourceTypeId, lat, lon, distance, limit ...',
        example: { tag: 'rooftop', limit: 10 },
      },
    },
    output: { resources: { type: 'array', description: 'matching resources, with their metadata' } },
    async execute({ properties }) {
      const found = await requireService(resources, 'resources').find(properties.query)
      return { state: found.length > 0 ? 'Collected' : 'Not Collected', rawData: { resources: found } }
    },
  })
}
