import {
  causeOf,
  definePlug,
  messageOf,
  type Plug,
  type PlugContext,
  requireService,
  resourceOf,
  type ResourcePort,
} from '../../src/plug.ts'

const shared = {
  name: 'updateMetadata',
  version: '1.0.0',
  category: 'Resources',
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
} as const

/** A sensor and an actuator that set metadata of a resource. */
export function updateMetadataPlugs(resources?: ResourcePort): readonly Plug[] {
  const patch = async (context: PlugContext<Properties>) => {
    const resource = resourceOf(context)
    return requireService(resources, 'resources').patch(resource, context.properties.metadata, causeOf(context))
  }
  return [
    definePlug({
      ...shared,
      kind: 'sensor',
      acts: true,
      description: 'Sets metadata of a resource and leaves its other metadata as they are: Success, else Error.',
      states: ['Success', 'Error'],
      output: {
        metadata: { type: 'object', description: 'the attributes that the resource has itself now' },
        error: { type: 'string', description: 'why nothing was set; absent after a Success' },
      },
      async execute(context) {
        try {
          return { state: 'Success', rawData: { metadata: await patch(context) } }
        } catch (error) {
          return { state: 'Error', rawData: { error: messageOf(error) } }
        }
      },
    }),
    definePlug({
      ...shared,
      kind: 'actuator',
      description: 'Sets metadata of a resource and leaves its other metadata as they are.',
      output: { metadata: { type: 'object', description: 'the attributes that the resource has itself now' } },
      async execute(context) {
        const metadata = await patch(context)
        return { message: `updated ${resourceOf(context)}`, rawData: { metadata } }
      },
    }),
  ]
}

interface Properties {
  readonly metadata: Readonly<Record<string, unknown>>
  readonly resource: string | undefined
}
