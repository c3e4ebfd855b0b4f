/** A sensor and an actuator that set metadata of a resource and leave the rest. */
import {
  actingPlugs,
  causeOf,
  type Plug,
  problemsOfIssues,
  requireService,
  resourceOf,
  type ResourcePort,
  touchingResource,
} from '#plug'

/** A sensor and an actuator that set metadata of a resource. */
export function updateMetadataPlugs(resources?: ResourcePort): readonly Plug[] {
  return actingPlugs({
    name: 'updateMetadata',
    version: '1.0.0',
    category: 'Resources',
    description: 'Sets metadata of a resource and leaves its other metadata as they are',
    input: {
      metadata: {
        type: 'object',
        mandatory: true,
        description: 'attributes to set, each as a whole; null removes one',
        example: { serviced: '2026-11-20' },
      },
      resource: {
        type: 'string',
        format: { type: 'resource' },
        description: 'which resource; that of the node or of the task when left out',
        example: 'boiler-1',
      },
    },
    touches: ({ resource }, context) => touchingResource(resource, context),
    check: ({ metadata }) =>
      metadata && resources?.checkPatch ? problemsOfIssues(resources.checkPatch(metadata), 'metadata') : [],
    output: { metadata: { type: 'object', description: 'the attributes that the resource has itself now' } },
    async perform(context) {
      const resource = resourceOf(context)
      const { metadata: change } = context.properties
      const metadata = await requireService(resources, 'resources').patch(resource, change, causeOf(context))
      return { message: `updated ${resource}`, rawData: { metadata } }
    },
  })
}
