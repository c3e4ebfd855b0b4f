/** A sensor that reads the metadata of a resource, including those of its type. */
import { definePlug, requireService, RESOURCE_INPUT, resourceOf, type ResourcePort } from '#plug'

export function getMetadataPlug(resources?: ResourcePort) {
  return definePlug({
    name: 'getMetadata',
    version: '1.0.0',
    kind: 'sensor',
    description:
      'The metadata of a resource, including those of its type: Found or Not Found. Fails when resources are unavailable.',
    category: 'Resources',
    parameters: [],
    states: ['Found', 'Not Found'],
    input: {
      resource: { ...RESOURCE_INPUT, description: 'resource of the metadata; default: that of the node or task' },
    },
    output: { metadata: { type: 'object', description: 'all attributes; absent when the resource does not exist' } },
    async execute(context) {
      const metadata = await requireService(resources, 'resources').get(resourceOf(context))
      return metadata === undefined ? { state: 'Not Found', rawData: {} } : { state: 'Found', rawData: { metadata } }
    },
  })
}
