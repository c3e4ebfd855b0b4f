/** Roll-outs: versions of templates beside the live ones, how they differ and why, promotion and the way back. */
import { useState } from 'preact/hooks'
import { useLoad } from '../loading.ts'
import { CopyRequest } from '../parts/copy.tsx'
import { Age, Answer, Empty, Heads, Panel, Problem, Scroll, Waiting } from '../parts/layout.tsx'
import { done } from '../parts/undo.tsx'
import { query, setQuery, to, withQuery } from '../router.ts'
import { api, may } from '../session.ts'
import { messageOf } from '../words/errors.ts'
import { stateText, tasksText } from '../words/rollout.ts'
import { OneRollout } from './rollout.tsx'

const REFRESH_MS = 5_000

export function Rollouts() {
  const template = query.value.get('template')
  const id = query.value.get('id')
  const names = useLoad(async () => {
    const page = { where: {}, hits: 100, startIndex: 0, format: 'simplified', includeGraph: false } as const
    return (await api.rules.templates.list(page)).values.map(({ name }) => name)
  }, [])
  const chosen = template ?? names.data?.[0]
  if (chosen !== undefined && id !== null) return <OneRollout template={chosen} id={id} />
  if (names.data === undefined)
    return <Waiting title="Which version runs beside the live one?" error={names.error} retry={names.reload} />
  if (chosen === undefined) {
    return (
      <>
        <Answer
          title="No template can be rolled out yet"
          more="A roll-out moves tasks between versions of their template."
        />
        <Panel title="Roll-outs">
          <Empty title="No templates">
            <p>
              Save a rule as a template in the <a href={to('editor')}>editor</a>, and make tasks of it. Each later
              version can then run as a shadow: on the same readings as the live one, without calling or sending
              anything.
            </p>
          </Empty>
        </Panel>
      </>
    )
  }
  return <OfTemplate key={chosen} template={chosen} names={names.data} />
}

function OfTemplate({ template, names }: { readonly template: string; readonly names: readonly string[] }) {
  const { data, error, reload } = useLoad(
    async () => {
      const page = { hits: 100, startIndex: 0 }
      const [rollouts, versions] = await Promise.all([
        api.rules.rollouts.list(template, page),
        api.rules.templates.versions(template, page),
      ])
      return { rollouts: rollouts.values, versions: versions.values }
    },
    [template],
    REFRESH_MS,
  )
  const path = `/api/templates/${encodeURIComponent(template)}/rollouts`
  const open = data?.rollouts.find(({ finishedTime }) => finishedTime === undefined)
  const title =
    data === undefined
      ? 'Which version runs beside the live one?'
      : open === undefined
        ? `No version of ${template} is being rolled out`
        : `${stateText(open)}: version ${open.version} of ${template}`
  return (
    <>
      <Answer title={title} more="A shadow runs on the same readings as the live version, and calls nothing.">
        <CopyRequest method="GET" path={path} done={done} />
      </Answer>
      <Problem text={error} retry={reload} />
      <div class="stack">
        <Panel title="What to roll out">
          <div class="pad controls">
            <label>
              Template
              <select value={template} onChange={({ currentTarget: { value } }) => setQuery({ template: value })}>
                {names.map((name) => (
                  <option key={name} value={name}>
                    {name}
                  </option>
                ))}
              </select>
            </label>
            {data !== undefined && open === undefined && may('author') && (
              <Start template={template} versions={data.versions.map(({ version, draft }) => ({ version, draft }))} />
            )}
          </div>
        </Panel>
        <Panel title="Roll-outs" aside={data === undefined ? undefined : `${data.rollouts.length} kept`}>
          {data !== undefined && data.rollouts.length === 0 && (
            <Empty title="None yet">
              <p>
                Save a change as a draft, rehearse it, and start a shadow above. It lists each firing that only one of
                the versions has, with the reason. Promote it when the difference is what you meant.
              </p>
            </Empty>
          )}
          {data !== undefined && data.rollouts.length > 0 && (
            <Scroll label="Roll-outs">
              <table>
                <Heads columns={['Roll-out', 'Tasks', 'By', ['Age', 'num']]} />
                <tbody>
                  {data.rollouts.map((one) => (
                    <tr key={one.id}>
                      <td>
                        <a href={withQuery(to('rollouts'), { template, id: one.id })}>
                          {stateText(one)}: version {one.version}
                        </a>
                        {one.reason !== undefined && <p class="second">{one.reason}</p>}
                      </td>
                      <td>{tasksText(one)}</td>
                      <td>{one.user}</td>
                      <td class="num">
                        <Age at={one.createTime} />
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Scroll>
          )}
        </Panel>
      </div>
    </>
  )
}

interface StartProps {
  readonly template: string
  readonly versions: readonly { readonly version: number; readonly draft: boolean | undefined }[]
}

function Start({ template, versions }: StartProps) {
  const [version, setVersion] = useState(versions[0]?.version ?? 1)
  const [mode, setMode] = useState<'shadow' | 'canary'>('shadow')
  const [percent, setPercent] = useState(10)
  const [problem, setProblem] = useState<string | undefined>()
  const request = { version, mode, ...(mode === 'canary' && { percent }) }
  const start = async (): Promise<void> => {
    try {
      const { id } = await api.rules.rollouts.create(template, request)
      setQuery({ template, id })
    } catch (thrown) {
      setProblem(messageOf(thrown))
    }
  }
  return (
    <>
      <label>
        Version
        <select value={version} onChange={({ currentTarget: { value } }) => setVersion(Number(value))}>
          {versions.map((one) => (
            <option key={one.version} value={one.version}>
              {one.version}
              {one.draft === true ? ', a draft' : ''}
            </option>
          ))}
        </select>
      </label>
      <label>
        As
        <select
          value={mode}
          onChange={({ currentTarget: { value } }) => setMode(value === 'canary' ? value : 'shadow')}
        >
          <option value="shadow">a shadow, without effects</option>
          {may('publish') && <option value="canary">a canary, for a share of the resources</option>}
        </select>
      </label>
      {mode === 'canary' && (
        <label>
          Share in percent
          <input
            type="number"
            min={1}
            max={100}
            value={percent}
            onChange={({ currentTarget }) => setPercent(currentTarget.valueAsNumber)}
          />
        </label>
      )}
      <button type="button" class="primary" onClick={() => void start()}>
        Start
      </button>
      <Problem text={problem} />
    </>
  )
}
