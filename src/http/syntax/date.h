#pragma once

#define DATE_SIZE 32 /* bytes of "Sun, 06 Nov 1994 08:49:37 GMT" and its NUL */

/* Writes the time now as a Date header has it. RFC 9110 section 5.6.7 */
void date_format(char ret_text[DATE_SIZE]);
