/** A sensor that finds the children of a resource. */
import { definePlug, requireService, resourceOf, type ResourcePort } from '#plug'

export function getChildrenPlug(resources?: ResourcePort) {
  return definePlug({
    name: 'getChildren',
    version: '1.0.0',
    kind: 'sensor',
    description:
      'The children of a resource, the first 100 by id: Found, or Not Found without any. Fails when resources are unavailable.',
    category: 'Resources',
    parameters: [],
    states: ['Found', 'Not Found'],
    input: {
      resource: {
        type: 'string',
        format: { type: 'resource' },
        description: 'the parent; default: the resource of the node or task',
        example: 'building-1',
      },
    },
    output: {
      values: { type: 'array', description: 'the children with their metadata' },
      childIds: { type: 'array', description: 'their ids' },
    },
    async execute(context) {
      const values = await requireService(resources, 'resources').children(resourceOf(context))
      const childIds = values.map(({ id }) => id)
      return { state: values.length > 0 ? 'Found' : 'Not Found', rawData: { values, childIds } }
    },
  })
}
