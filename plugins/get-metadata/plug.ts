/** A sensor that fetches the metadata of a resource, those of its type included. */
import { definePlug, type Plug, requireService, resourceOf, type ResourcePort } from '#plug'

/** A sensor that reads the metadata of a resource. */
export function getMetadataPlug(resources?: ResourcePort): Plug {
  return definePlug({
    name: 'getMetadata',
    version: '1.0.0',
    kind: 'sensor',
    description:
      'The metadata of a resource, those of its type included: Found or Not Found. It fails when resources cannot be asked.',
    category: 'Resources',
    parameters: [],
    states: ['Found', 'Not Found'],
    input: {
      resource: {
        type: 'string',
        format: { type: 'resource' },
        description: 'whose metadata; those of the resource of the node or of the task when left out',
        example: 'boiler-1',
      },
    },
    output: { metadata: { type: 'object', description: 'all attributes; absent when there is no such resource' } },
    async execute(context) {
      const metadata = await requireService(resources, 'resources').get(resourceOf(context))
      return metadata === undefined ? { state: 'Not Found', rawData: {} } : { state: 'Found', rawData: { metadata } }
    },
  })
}
