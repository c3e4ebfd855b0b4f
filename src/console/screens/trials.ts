/** How plugs, webscripts, models and converters are tried: the request, an example of its body, and their log. */
import { api, type may, session } from '../session.ts'

export interface Trial {
  /** needed to send the request */
  readonly scope: Parameters<typeof may>[0]
  /** what happens */
  readonly does: string
  /** Returns the path of the request below the API, and an example of its body. */
  request(name: string): Promise<{ readonly path: string; readonly body: unknown }>
  /** Returns the newest lines of the log, the newest first. */
  log?(name: string): Promise<readonly LogLine[]>
}

export interface LogLine {
  /** epoch ms or ISO 8601 */
  readonly time: number | string
  readonly level: string
  readonly text: string
}

const at = (name: string): string => encodeURIComponent(name)
const MOST = 50

const TYPED: Readonly<Record<string, unknown>> = { number: 0, integer: 0, boolean: false }

async function ofPlug(name: string) {
  for (const family of ['sensors', 'actions'] as const) {
    try {
      return { path: `/api/${family}/${at(name)}`, plug: await api.rules.tools.plug(family, name) }
    } catch {
      // of the other family, or not deployed yet
    }
  }
  throw new Error(
    `Rules cannot use ${name} yet: it is a draft, or its build has not ended. Publish it, then try again.`,
  )
}

export const PLUG: Trial = {
  scope: 'operate',
  does: 'Runs the plug once, with these properties and this message. An actuator acts.',
  request: async (name) => {
    const { path, plug } = await ofPlug(name)
    const examples = plug.configuration.map(({ name: field, type, defaultValue }) => [
      field,
      defaultValue ?? TYPED[type] ?? '',
    ])
    return { path, body: { properties: Object.fromEntries(examples) as object, streamData: {} } }
  },
  log: async (name) => {
    const { version } = await api.functions.plugs.latest(name)
    const lines = await api.functions.plugs.log(name, version)
    return lines.slice(-MOST).toReversed()
  },
}

export const WEBSCRIPT: Trial = {
  scope: 'operate',
  does: 'Calls the webscript with this body, as a client does.',
  request: async (name) => ({ path: `/api/v1/${at(session.value?.tenant ?? '')}/${at(name)}`, body: {} }),
  log: async (name) => {
    const { values } = await api.webscripts.log(name, { limit: MOST })
    return values.map(({ timestamp, level, message }) => ({ time: timestamp, level, text: message }))
  },
}

export const MODEL: Trial = {
  scope: 'operate',
  does: 'Predicts with these inputs.',
  request: async (name) => {
    const [example] = await api.models.examples(name)
    return {
      path: `/models/${at(name)}/${example?.endpoint ?? 'predict'}`,
      body: example?.payload ?? { instances: [] },
    }
  },
}

export const CONVERTER: Trial = {
  scope: 'operate',
  does: 'Converts this payload, and forwards nothing.',
  request: async (name) => ({ path: `/converter/${at(name)}/convert`, body: { temperature: 21.5 } }),
  log: async (name) => {
    const { values } = await api.converter.rejected.list(name)
    return values.map(({ time, error }) => ({ time, level: 'rejected', text: error }))
  },
}
