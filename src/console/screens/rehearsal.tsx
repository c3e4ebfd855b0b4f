/** Rehearsal: a rule over stored data, coverage first, and how another value of one property would change it. */
import { useLoad } from '../loading.ts'
import { Answer, Heads, Panel, Problem } from '../parts/layout.tsx'
import { TextField } from '../parts/text-field.tsx'
import { query, setQuery, to, withQuery } from '../router.ts'
import { api } from '../session.ts'
import { countText } from '../words/numbers.ts'
import { suggestionsOf, type Suggestion } from '../words/rehearsal.ts'
import { RehearsalRun, type Subject } from './rehearsal-run.tsx'

const RANGES = [
  ['-24h', 'last day'],
  ['-7d', 'last week'],
  ['-30d', 'last 30 days'],
] as const

async function loadSubject(task: string | null, template: string | null): Promise<Subject | undefined> {
  if (task !== null) {
    const {
      ID,
      name,
      network = {},
      revision,
      resource,
      template: of,
    } = await api.rules.tasks.get(task, { format: 'simplified' })
    return { kind: 'task', id: ID, name, rule: network, revision, resource, template: of }
  }
  if (template === null) return undefined
  const entity = await api.rules.templates.get(template, 'simplified')
  return {
    kind: 'template',
    id: template,
    name: template,
    rule: entity as unknown as Subject['rule'],
    revision: entity.revision ?? 0,
    resource: undefined,
    template,
  }
}

export function Rehearsals() {
  const task = query.value.get('task')
  const template = query.value.get('template')
  const { data: subject, error, reload } = useLoad(() => loadSubject(task, template), [task, template])
  const choices = useLoad(async () => {
    const [tasks, templates] = await Promise.all([
      api.rules.tasks.list({ where: {}, hits: 100, startIndex: 0 }, { format: 'simplified', withoutGraph: true }),
      api.rules.templates.list({ where: {}, hits: 100, startIndex: 0, format: 'simplified', includeGraph: false }),
    ])
    return { tasks: tasks.values, templates: templates.values }
  }, []).data
  const types = useLoad(() => api.resources.types.list({ limit: 100 }), []).data?.values ?? []
  const chosen = task === null ? (template === null ? '' : `template ${template}`) : `task ${task}`
  const resources = query.value.get('resources') ?? subject?.resource ?? ''
  const choose = (value: string): void => {
    const [kind = '', ...id] = value.split(' ')
    setQuery({
      task: undefined,
      template: undefined,
      resources: undefined,
      knob: undefined,
      value: undefined,
      [kind]: id.join(' '),
    })
  }
  const controls = (
    <Panel title="What to rehearse">
      <div class="pad controls">
        <label>
          Rule
          <select value={chosen} onChange={({ currentTarget: { value } }) => choose(value)}>
            <option value="">choose a task or a template</option>
            <optgroup label="Tasks">
              {choices?.tasks.map(({ ID, name }) => (
                <option key={ID} value={`task ${ID}`}>
                  {name}
                </option>
              ))}
            </optgroup>
            <optgroup label="Templates">
              {choices?.templates.map(({ name }) => (
                <option key={name} value={`template ${name}`}>
                  {name}
                </option>
              ))}
            </optgroup>
          </select>
        </label>
        <label>
          Resources: ids, or type:name
          <TextField
            list="rehearsed"
            value={resources}
            placeholder="boiler-1, boiler-2 or type:boiler"
            onChange={(typed) => setQuery({ resources: typed })}
          />
          <datalist id="rehearsed">
            {types.map(({ id }) => (
              <option key={id} value={`type:${id}`} />
            ))}
          </datalist>
        </label>
        <label>
          Data of
          <select
            value={query.value.get('from') ?? '-24h'}
            onChange={({ currentTarget: { value } }) => setQuery({ from: value })}
          >
            {RANGES.map(([value, name]) => (
              <option key={value} value={value}>
                the {name}
              </option>
            ))}
          </select>
        </label>
      </div>
    </Panel>
  )
  if (subject === undefined || resources === '') {
    return (
      <>
        <Answer
          title={subject === undefined ? 'Which rule would have fired, on which data?' : 'On which resources?'}
          more="A rehearsal runs a rule over stored data in virtual time. It calls nothing and sends nothing."
        />
        <Problem text={error} retry={reload} />
        {controls}
        {subject === undefined && <Suggestions list={suggestionsOf(choices?.tasks ?? [])} />}
      </>
    )
  }
  return (
    <RehearsalRun
      key={chosen}
      subject={subject}
      resources={resources}
      from={query.value.get('from') ?? '-24h'}
      controls={controls}
    />
  )
}

function Suggestions({ list }: { readonly list: readonly Suggestion[] }) {
  if (list.length === 0) return null
  return (
    <Panel title="Running now" aside="on the data of their resources">
      <table>
        <Heads columns={['Rule', 'Resources', ['Action', 'num']]} />
        <tbody>
          {list.map(({ kind, id, name, resources }) => {
            const target = withQuery(to('rehearsal'), { [kind]: id, resources: resources.join(','), from: '-24h' })
            return (
              <tr key={`${kind} ${id}`}>
                <td>{name}</td>
                <td class="second">
                  {resources.length > 3 ? countText(resources.length, 'resource') : resources.join(', ')}
                </td>
                <td class="num">
                  <a href={target}>
                    Rehearse the last day<span class="unseen"> with {name}</span>
                  </a>
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </Panel>
  )
}
