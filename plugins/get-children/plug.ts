/** A sensor that looks for the resources whose parent is a given one. */
import { definePlug, type Plug, requireService, resourceOf, type ResourcePort } from '#plug'

/** A sensor that gives the resources below another. */
export function getChildrenPlug(resources?: ResourcePort): Plug {
  return definePlug({
    name: 'getChildren',
    version: '1.0.0',
    kind: 'sensor',
    description:
      'The resources whose parent is a resource, the first 100 by id: Found, or Not Found when there are none. It fails when resources cannot be asked.',
    category: 'Resources',
    parameters: [],
    states: ['Found', 'Not Found'],
    input: {
      resource: {
        type: 'string',
        format: { type: 'resource' },
        description: 'the parent; the resource of the node or of the task when left out',
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
