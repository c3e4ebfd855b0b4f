/** A sensor that searches for resources. */
import { definePlug, type Plug, requireService, type ResourcePort } from '#plug'

/** A sensor that searches resources. */
export function queryResourcesPlug(resources?: ResourcePort): Plug {
  return definePlug({
    name: 'queryResources',
    version: '1.0.0',
    kind: 'sensor',
    description:
      'The resources that a search finds: Collected, or Not Collected when there are none. It fails when resources cannot be asked so.',
    category: 'Resources',
    parameters: [],
    states: ['Collected', 'Not Collected'],
    input: {
      query: {
        type: 'object',
        mandatory: true,
        description: 'what the listing of resources takes: filter, tag, resourceTypeId, lat, lon, distance, limit ...',
        example: { tag: 'rooftop', limit: 10 },
      },
    },
    output: { resources: { type: 'array', description: 'those found, with their metadata' } },
    async execute({ properties }) {
      const found = await requireService(resources, 'resources').find(properties.query)
      return { state: found.length > 0 ? 'Collected' : 'Not Collected', rawData: { resources: found } }
    },
  })
}
