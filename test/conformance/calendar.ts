/** A calendar entry as text (RFC 5545); texts may hold variables of a contract. */
export function calendarEntry({ uid, title }: { readonly uid: string; readonly title: string }): string {
  return [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//writ//conformance//EN",
    "BEGIN:VEVENT",
    `UID:${uid}`,
    "DTSTAMP:20260101T000000Z",
    "DTSTART:20260102T090000Z",
    "DTEND:20260102T100000Z",
    `SUMMARY:${title}`,
    "END:VEVENT",
    "END:VCALENDAR",
    "",
  ].join("\r\n");
}
