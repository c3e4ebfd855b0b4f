/** The history of a task: what it did, by the calls of its actuators. */
import type { TaskEntity } from '#services/rules/contract'
import { showAt } from '../instant.ts'
import { useLoad } from '../loading.ts'
import { Heads, Panel, Problem, Scroll, Time } from '../parts/layout.tsx'
import { setQuery } from '../router.ts'
import { api } from '../session.ts'
import { countText } from '../words/numbers.ts'

export function TaskHistory({ task, round }: { readonly task: TaskEntity; readonly round: number }) {
  const { data, error } = useLoad(() => api.rules.inspection.deliveries(task.ID, { limit: 20 }), [task.ID])
  const follow = useLoad(
    () => api.rules.inspection.deliveries(task.ID, { limit: 20 }),
    [task.ID, Math.floor(round / 4)],
  )
  const calls = (follow.data ?? data)?.values ?? []
  const show = (time: number, node: string): void => {
    setQuery({ node })
    showAt(time)
  }
  return (
    <Panel title="History" aside={calls.length === 0 ? '' : `the last ${countText(calls.length, 'firing')}`}>
      {error !== undefined && <Problem text={error} />}
      {data !== undefined && calls.length === 0 && (
        <p class="pad second">No actuator has fired since the task started.</p>
      )}
      {calls.length > 0 && (
        <Scroll label="History">
          <table class="tight">
            <Heads columns={['Fired', 'Node', ['Call', 'hide-phone'], 'Result']} />
            <tbody>
              {calls.map(({ id, node, createTime, plug, status, attempts, message, error: failure }) => (
                <tr key={id}>
                  <td class="nowrap">
                    <button type="button" class="link" onClick={() => show(createTime, node)}>
                      <Time at={createTime} withSeconds />
                    </button>
                  </td>
                  <td>
                    <code>{node}</code>
                  </td>
                  <td class="second hide-phone">{plug}</td>
                  <td>
                    {status}
                    {attempts > 1 && `, attempt ${attempts}`}
                    {(failure ?? message) !== undefined && (
                      <div class={failure === undefined ? 'dim' : 'bad'}>{failure ?? message}</div>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </Panel>
  )
}
