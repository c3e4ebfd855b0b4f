/** The client inside webscripts, with aliases of the platform. */
import type { Client } from '../../../client.ts'

export function withAliases(client: Client) {
  const { resources, rules, broker, converter } = client
  return {
    ...client,
    resources: {
      ...resources,
      get: async (id: string) => (await resources.resources.get(id)).value,
      create: resources.resources.create,
      update: resources.resources.patch,
    },
    data: {
      postSeries: (resource: string, values: Readonly<Record<string, unknown>>) =>
        broker.posting.events(resource, values),
      getCurrent: (resource: string) => broker.messages.current(resource),
    },
    transformers: {
      execute: (name: string, { data = {} }: { readonly data?: unknown }) => converter.convert(name, data),
    },
    tasks: rules.tasks,
    templates: rules.templates,
  }
}
