/** On call: who is notified of which alarms and when, and the maintenance that holds alarms back. */
import { useState } from 'preact/hooks'
import type { MaintenanceWindow } from '#services/maintenance/contract'
import type { Contact, Notification, OnCall as Calls, Policy } from '#services/notification/contract'
import { now } from '../connection.ts'
import { useLoad } from '../loading.ts'
import { Answer, Empty, Heads, Panel, Problem, Scroll, Time, Waiting } from '../parts/layout.tsx'
import { done } from '../parts/undo.tsx'
import { to } from '../router.ts'
import { api, may } from '../session.ts'
import { notificationText, onCallAnswer, recipientsText, selectionText } from '../words/on-call.ts'
import { messageOf } from '../words/errors.ts'
import { countText } from '../words/numbers.ts'

const EVERY_MS = 10_000
const SHOWN = 50
const HOUR = 3_600_000

export function OnCall() {
  const { data, error, reload } = useLoad(
    async () => {
      const { maintenance, notification } = api
      const [windows, calls, contacts, policies, sent] = await Promise.all([
        maintenance.list(),
        notification.onCall(),
        notification.contacts.list(),
        notification.policies.list(),
        notification.notifications.list({ limit: SHOWN }),
      ])
      return { windows, calls, contacts, policies, sent: sent.notifications }
    },
    [],
    EVERY_MS,
  )
  if (data === undefined) return <Waiting error={error} retry={reload} title="On call" />
  const { windows, calls, contacts, policies, sent } = data
  return (
    <>
      <Answer
        title={onCallAnswer(calls, policies, windows)}
        more="Policies notify contacts of alarms; maintenance windows hold alarms back for a time."
      />
      <Problem text={error} retry={reload} />
      <div class="split">
        <div class="stack">
          <Windows windows={windows} reload={reload} />
          <Policies policies={policies} />
          <Sent sent={sent} />
        </div>
        <div class="stack">
          <Now calls={calls} />
          <Contacts contacts={contacts} />
        </div>
      </div>
    </>
  )
}

function Now({ calls: { calendars } }: { readonly calls: Calls }) {
  return (
    <Panel as="aside" title="On call now">
      {calendars.length === 0 ? (
        <Empty title="No calendar has shifts">
          <p>Store one with PUT /api/calendars/NAME; policies name it as onCall.</p>
        </Empty>
      ) : (
        <dl class="facts pad">
          {calendars.map(({ calendar, contacts, shifts, until }) => (
            <>
              <dt>{calendar}</dt>
              <dd>
                {contacts.length === 0 ? 'no contact' : contacts.join(', ')}
                {shifts.length > 0 && <span class="dim"> {shifts.join(', ')}</span>}
                {until !== undefined && (
                  <>
                    {' '}
                    until <Time at={Date.parse(until)} />
                  </>
                )}
              </dd>
            </>
          ))}
        </dl>
      )}
    </Panel>
  )
}

function Contacts({ contacts }: { readonly contacts: readonly Contact[] }) {
  const [tested, setTested] = useState('')
  const test = async (name: string): Promise<void> => {
    setTested(`Testing ${name}`)
    try {
      const { channels } = await api.notification.contacts.test(name)
      const lines = channels.map(({ type, ok, problem }) => `${type}: ${ok ? 'delivered' : (problem ?? 'failed')}`)
      setTested(`${name}: ${lines.join('; ')}`)
    } catch (thrown) {
      setTested(messageOf(thrown))
    }
  }
  return (
    <Panel title="Contacts">
      {contacts.length === 0 ? (
        <Empty title="No contact is stored">
          <p>Store one with PUT /alarm/contacts/NAME and its channels: mail, webhook or MQTT.</p>
        </Empty>
      ) : (
        <ul class="items">
          {contacts.map(({ name, channels }) => (
            <li key={name} class="pad row">
              <span>
                {name} <span class="dim">{channels.map(({ type }) => type).join(', ')}</span>
              </span>
              {may('operate') && (
                <button type="button" class="small" aria-label={`Test ${name}`} onClick={() => void test(name)}>
                  Test
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
      <p class="pad" role="status">
        {tested}
      </p>
    </Panel>
  )
}

const POLICY_HEADS = ['Policy', 'Alarms', 'Notifies', 'After'] as const

function Policies({ policies }: { readonly policies: readonly Policy[] }) {
  if (policies.length === 0)
    return (
      <Panel title="Policies">
        <Empty title="Alarms notify no contact">
          <p>Store a policy with PUT /alarm/policies/NAME: which alarms, which contacts, after how long.</p>
        </Empty>
      </Panel>
    )
  return (
    <Panel title="Policies">
      <Scroll label="Policies">
        <table class="tight">
          <Heads columns={POLICY_HEADS} />
          <tbody>
            {policies.map((policy) => (
              <tr key={policy.name}>
                <td>
                  {policy.name}
                  {policy.paused === true && <span class="dim"> paused</span>}
                  {policy.warnings.map((text) => (
                    <div key={text} class="dim">
                      {text}
                    </div>
                  ))}
                </td>
                <td>{selectionText(policy.select)}</td>
                <td>{recipientsText(policy)}</td>
                <td>{policy.after ?? 'at once'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </Panel>
  )
}

const WINDOW_HEADS = ['Maintenance', 'Of', 'Time', 'End'] as const

function Windows({ windows, reload }: { readonly windows: readonly MaintenanceWindow[]; reload(): void }) {
  const act = async (work: () => Promise<unknown>, said: string): Promise<void> => {
    try {
      await work()
      done(said)
    } catch (thrown) {
      done(messageOf(thrown))
    }
    reload()
  }
  const shown = windows.filter(({ state }) => state !== 'over')
  return (
    <Panel title="Maintenance" aside={countText(shown.filter(({ state }) => state === 'active').length, 'window')}>
      {shown.length > 0 && (
        <Scroll label="Maintenance windows">
          <table class="tight">
            <Heads columns={WINDOW_HEADS} />
            <tbody>
              {shown.map((one) => (
                <tr key={one.name}>
                  <td>
                    {one.title ?? one.name} <span class="dim">{one.effect}</span>
                    {one.reason !== undefined && <div class="dim">{one.reason}</div>}
                  </td>
                  <td>{selectionText(one.select)}</td>
                  <td>
                    <Span window={one} />
                  </td>
                  <td>
                    {may('operate') && (
                      <button
                        type="button"
                        class="small"
                        aria-label={`End ${one.name}`}
                        onClick={() =>
                          void act(() => api.maintenance.remove(one.name), `The maintenance ${one.name} is over`)
                        }
                      >
                        {one.state === 'active' ? 'End now' : 'Remove'}
                      </button>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
      {may('operate') && <NewWindow act={act} />}
    </Panel>
  )
}

function Span({ window: { state, current, next, until, from } }: { readonly window: MaintenanceWindow }) {
  const span = current ?? next
  const [start, end] = [span?.from ?? from, span?.until ?? until]
  return (
    <>
      {state === 'active' ? (
        'now'
      ) : (
        <>
          from <Time at={Date.parse(start)} />
        </>
      )}
      {end !== undefined && (
        <>
          {' '}
          until <Time at={Date.parse(end)} />
        </>
      )}
    </>
  )
}

interface NewWindowProps {
  act(work: () => Promise<unknown>, said: string): Promise<void>
}

function NewWindow({ act }: NewWindowProps) {
  const [resource, setResource] = useState('')
  const [reason, setReason] = useState('')
  const [hours, setHours] = useState(2)
  const isIncomplete = resource.trim() === '' || reason.trim() === ''
  const submit = (event: Event): void => {
    event.preventDefault()
    if (isIncomplete) return
    const [from, until] = [now.value, now.value + hours * HOUR].map((time) => new Date(time).toISOString())
    const name = `${resource.trim().replaceAll(/[^\w-]+/g, '-')}-${from?.slice(0, 16).replaceAll(/[^\d]/g, '')}`
    const body = { effect: 'suppress', reason: reason.trim(), select: { resources: [resource.trim()] }, until }
    void act(() => api.maintenance.put(name, body), `Alarms of ${resource.trim()} are held back for ${hours} h`)
    setResource('')
    setReason('')
  }
  return (
    <form class="one-line pad" onSubmit={submit}>
      <input
        aria-label="Resource in maintenance"
        placeholder="Resource"
        value={resource}
        onInput={({ currentTarget }) => setResource(currentTarget.value)}
      />
      <input
        aria-label="Reason for the maintenance"
        placeholder="Reason"
        maxLength={1_000}
        value={reason}
        onInput={({ currentTarget }) => setReason(currentTarget.value)}
      />
      <select aria-label="Length" value={hours} onChange={({ currentTarget }) => setHours(Number(currentTarget.value))}>
        {[1, 2, 8, 24].map((one) => (
          <option key={one} value={one}>
            {one} h
          </option>
        ))}
      </select>
      <button type="submit" disabled={isIncomplete}>
        Begin now
      </button>
    </form>
  )
}

const SENT_HEADS = ['Time', 'To', 'About', 'State'] as const

function Sent({ sent }: { readonly sent: readonly Notification[] }) {
  if (sent.length === 0) return null
  return (
    <Panel title="Notifications" aside={`the newest ${sent.length}`}>
      <Scroll label="Notifications">
        <table class="tight">
          <Heads columns={SENT_HEADS} />
          <tbody>
            {sent.map((one) => (
              <tr key={one.id}>
                <td>
                  <Time at={Date.parse(one.createTime)} />
                </td>
                <td>
                  {one.contact} <span class="dim">{one.channel}</span>
                </td>
                <td>
                  {one.alarms[0] === undefined ? (
                    countText(one.total, 'alarm')
                  ) : (
                    <a href={to('alarms', one.alarms[0].id)}>{one.alarms[0].text}</a>
                  )}
                  {one.total > 1 && ` and ${countText(one.total - 1, 'other')}`}
                </td>
                <td>{notificationText(one)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </Panel>
  )
}
