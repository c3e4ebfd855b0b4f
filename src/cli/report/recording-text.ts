/** Formats the played recording and its time span as lines of text. */
import { counted, grouped } from '../numbers.ts'
import type { Recording } from '../recording/recording.ts'
import { formatSpan, formatTime } from '../time-text.ts'
import { visible } from '../visible.ts'
import type { Zone } from '../zone.ts'

export function recordingText(recording: Recording | undefined): string {
  if (recording === undefined) return 'no messages, only the clock\n'
  const { name, format, messages, resources } = recording
  const [only] = resources
  const whose = resources.size === 1 ? `of ${visible(only ?? '')}` : `of ${grouped(resources.size)} resources`
  return `${name}: ${counted(messages, 'message')} ${whose} (${format})\n`
}

export function spanText(from: number, until: number, zone: Zone): string {
  return `${formatTime(from, zone)} to ${formatTime(until, zone)} (${formatSpan(until - from)}), times in ${zone.name}\n`
}
