/** One task in a whole host on SQLite. */
import { makeRulesWith } from '../../../src/host/wiring/make-rules.ts'
import { SERVICES } from '../../../src/host/wiring/service-table.ts'
import type { MakeService } from '../../../src/host/wiring/service-dependencies.ts'
import type { Plug } from '../../../src/plug.ts'
import { openHost, PAIR } from '../broker/open-host.ts'
import { withFolder } from '../host/folder.ts'
import { messageOf, RULE } from './evaluations.ts'
import type { Post } from './subject.ts'

const RESOURCE = 'boiler-0'

export function onHost<Result>(plugs: readonly Plug[], work: (post: Post) => Promise<Result>): Promise<Result> {
  return withFolder(async (folder) => {
    const rules: MakeService = (parts) => makeRulesWith(plugs, parts)
    const app = await openHost(folder, new Map([...SERVICES, ['rules', rules]]))
    const post = async (url: string, payload: object): Promise<void> => {
      const { statusCode, body } = await app.inject({ method: 'POST', url, headers: { authorization: PAIR }, payload })
      if (statusCode >= 300) throw new Error(`${url} was answered with ${statusCode}: ${body}`)
    }
    try {
      await post('/api/tasks', { ...RULE, task: { name: 'warm', type: 'reactive', resource: RESOURCE } })
      return await work((n) => post(`/resources/${RESOURCE}/events`, messageOf(n)))
    } finally {
      await app.close()
    }
  })
}
