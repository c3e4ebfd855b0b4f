/** A sensor and an actuator that set metadata of a resource and leave the rest. */
import {
  actingPlugs,
  causeOf,
  problemsOfIssues,
  requireService,
  RESOURCE_INPUT,
  resourceOf,
  type ResourcePort,
  touchingResource,
} from '#plug'

export function updateMetadataPlugs(resources?: ResourcePort) {
  return actingPlugs({
    name: 'updateMetadata',
    version: '1.0.0',
    category: 'Resources',
    description: 'Sets metadata of a resource and keeps its other metadata',
    input: {
      metadata: {
        type: 'object',
        mandatory: true,
        description: 'attributes to set, each as a whole; null removes it',
        example: { serviced: '2026-11-20' },
      },
      resource: { ...RESOURCE_INPUT, description: 'default: the resource of the node or task' },
    },
    touches: ({ resource }, context) => touchingResource(resource, context),
    check: ({ metadata }) =>
      metadata && resources?.checkPatch ? problemsOfIssues(resources.checkPatch(metadata), 'metadata') : [],
    output: { metadata: { type: 'object', description: 'attributes of the resource itself after the change' } },
    async perform(context) {
      const resource = resourceOf(context)
      const { metadata: change } = context.properties
      const metadata = await requireService(resources, 'resources').patch(resource, change, causeOf(context))
      return { message: `updated ${resource}`, rawData: { metadata } }
    },
  })
}
