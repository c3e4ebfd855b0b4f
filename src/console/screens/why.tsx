/** Why a node fired or has its state, why not, and what would change that: the sentences of the host. */
import type { ExplanationText } from '#services/rules/contract'
import { zone } from '../settings.ts'
import { now } from '../connection.ts'
import { localTimes } from '../words/task.ts'

export function Why({ text, isPast = false }: { readonly text: ExplanationText; readonly isPast?: boolean }) {
  const local = (sentence: string): string => localTimes(sentence, zone.value, now.value)
  return (
    <div class="why" aria-live="polite">
      <p class="why-sentence">{local(text.sentence)}</p>
      {text.chain.length > 0 && (
        <ol class="chain">
          {text.chain.map(({ kind, text: step }, index) => (
            <li key={index}>
              <b>{kind === 'data' ? 'reading' : kind}</b>
              <span>{local(step)}</span>
            </li>
          ))}
        </ol>
      )}
      {text.whyNot.length > 0 && <h3>{isPast ? 'Why not then' : 'Why not now'}</h3>}
      {text.whyNot.map(({ source, sentence, reasons, needs }) => (
        <div class="blocked" key={source + sentence}>
          <p class="second">{local(sentence)}</p>
          {reasons.map((reason) => (
            <p key={reason.sentence}>
              <strong>{local(reason.sentence)}</strong> <span class="second">{reason.rule}</span>
            </p>
          ))}
          {needs !== undefined && <p>{local(needs)}</p>}
        </div>
      ))}
      {(text.others ?? []).length > 0 && <h3>For another state</h3>}
      {(text.others ?? []).map(({ state, needs }) => (
        <div class="blocked" key={state}>
          <strong>{state}</strong>
          <p>{local(needs)}</p>
        </div>
      ))}
      {text.notes.map((note) => (
        <p class="second" key={note}>
          {local(note)}
        </p>
      ))}
    </div>
  )
}
