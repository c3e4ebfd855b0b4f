/** Maps paths of the original platform's SDKs, such as `/rules/v1/tasks`, to paths of this API, such as `/api/tasks`. */

interface Asked {
  readonly method?: string | undefined
  readonly url?: string | undefined
}

const ALIAS = /^\/(rules|resources|alarms|data|queries)\/v1(?:\/([^?]*))?(\?.*)?$/

type PathOf = (rest: string, method: string) => string | undefined

const PATHS: ReadonlyMap<string, PathOf> = new Map<string, PathOf>([
  ['rules', (rest) => `/api/${rest}`],
  // any other path belongs to the resource whose id is `v1`
  [
    'resources',
    (rest) =>
      /^(?:resources|resourcetypes|resourceconstraints|batch)(?:\/|$)/.test(rest) ? `/api/${rest}` : undefined,
  ],
  ['alarms', (rest) => (/^batch(?:\/|$)/.test(rest) ? `/${rest}` : `/alarm/${rest}`)],
  ['data', dataPath],
  [
    'queries',
    (rest) => {
      const [, kind, name = ''] = /^(data|query)(\/.*)?$/.exec(rest) ?? []
      return kind && `/${kind === 'data' ? 'data' : 'config'}/query${name}`
    },
  ],
])

/** Returns the path of this API, with the query; a path that is not an alias stays. */
export function ownPath({ method = 'GET', url = '/' }: Asked): string {
  const [, service = '', rest = '', query = ''] = ALIAS.exec(url) ?? []
  if (service === '') return url
  if (rest === '') return method === 'GET' ? `/${query}` : url
  const path = PATHS.get(service)?.(rest, method)
  if (path === undefined) return url
  return path.includes('?') && query !== '' ? path.replace('?', `${query}&`) : path + query
}

function dataPath(rest: string, method: string): string | undefined {
  const [kind = '', id, ...more] = rest.split('/')
  if (!['events', 'messages', 'series'].includes(kind)) return id === undefined ? `/resources/${kind}` : undefined
  if (id === undefined) return kind === 'events' ? '/messages' : undefined
  if (method === 'POST' && id === 'query') return `/${kind}/query`
  if (method === 'DELETE' && kind === 'series' && more.length === 0) return `/resources/${id}?onlytimeseries=true`
  if (kind === 'messages' && more.length > 0) return `/resources/${id}/${more.join('/')}`
  return ['', 'resources', id, kind, ...more].join('/')
}
